// A buffer of elements whose type is known at run time, and views inside it.
//
// Programs fill one from a rule, hand views of it to the library and read the result back, every
// number as a complex<double>. It has exactly its elements' bytes, on the heap, so that sanitizers
// see the first stray access, or between guard pages, so that compiled kernels' stray accesses stop
// the process.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "einjit/view.h"
#include "tools/guarded_pages.h"

namespace einjit {

/// Calls f.template operator()<T>() with the element type that `type` names.
template <class F>
decltype(auto) with_element(DType type, F&& f) {
  switch (type) {
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    case DType::c64:
      return f.template operator()<c64>();
    case DType::c128:
      break;
  }
  return f.template operator()<c128>();
}

/// What storage without a value holds in a test: bits that no right answer has.
enum class Sentinel : std::uint8_t { signalling_nan, infinity, payload };
inline constexpr std::size_t kSentinels = 3;

class TypedBuffer {
 public:
  TypedBuffer(DType type, std::int64_t elements, std::optional<GuardedSide> guarded = {});
  TypedBuffer(const TypedBuffer& other);
  TypedBuffer(TypedBuffer&&) noexcept = default;

  DType type() const { return type_; }
  std::int64_t size() const { return size_; }
  void set(std::int64_t position,
           std::complex<double> value);  // a real element takes the real part
  std::complex<double> get(std::int64_t position) const;
  /// `payload`: quiet NaNs, each with a payload of its own.
  void fill_with(Sentinel sentinel);
  bool same_bits(const TypedBuffer& other, std::int64_t position) const;
  std::vector<std::byte> bits() const { return {data_, data_ + bytes()}; }

  /// To memcheck the elements hold nothing, or hold what their bits say.
  void mark_undefined();
  void mark_defined();
  bool is_defined(std::int64_t position) const;

  Operand operand(std::int64_t offset, const Dims& extents, const Dims& strides,
                  bool conj = false) const;
  Operand operand(const Dims& extents) const {
    return operand(0, extents, Dims::row_major(extents));
  }
  Destination destination(std::int64_t offset, const Dims& extents, const Dims& strides,
                          bool initialized);

 private:
  ByteRange bounds() const { return {data_, data_ + bytes()}; }
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * size_bytes(type_); }

  DType type_;
  std::int64_t size_;
  std::unique_ptr<std::byte[]> heap_;
  std::optional<GuardedPages> pages_;
  std::byte* data_;  // into one of the two
};

/// Calls visit(position) for every index in row-major order; strides and offset in elements.
template <class Visit>
void for_each_position(const Dims& extents, const Dims& strides, std::int64_t offset, Visit visit) {
  for (const std::int64_t extent : extents)
    if (extent == 0) return;
  Dims index(extents);
  for (std::size_t axis = 0; axis < index.size(); ++axis) index[axis] = 0;
  for (std::int64_t position = offset;;) {
    visit(position);
    std::size_t axis = extents.size();
    for (;;) {
      if (axis == 0) return;
      --axis;
      position += strides[axis];
      if (++index[axis] < extents[axis]) break;
      position -= index[axis] * strides[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace einjit
