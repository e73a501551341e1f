// Walks an index space of any rank, the last axis fastest, keeping one offset a tensor.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace einjit {

template <std::size_t N>
class Odometer {
 public:
  struct Axis {
    std::int64_t extent;  // ≥ 1
    std::array<std::int64_t, N> strides;
  };
  explicit Odometer(std::vector<Axis> axes) : axes_(std::move(axes)), index_(axes_.size(), 0) {}

  const std::array<std::int64_t, N>& offsets() const { return offsets_; }
  /// The next index; false, and back at the first one, after the last.
  bool next() {
    for (std::size_t axis = axes_.size(); axis-- > 0;) {
      const Axis& a = axes_[axis];
      if (++index_[axis] < a.extent) {
        for (std::size_t t = 0; t < N; ++t) offsets_[t] += a.strides[t];
        return true;
      }
      index_[axis] = 0;
      for (std::size_t t = 0; t < N; ++t) offsets_[t] -= (a.extent - 1) * a.strides[t];
    }
    return false;
  }

 private:
  std::vector<Axis> axes_;
  std::vector<std::int64_t> index_;
  std::array<std::int64_t, N> offsets_{};
};

}  // namespace einjit
