// Steps over the whole destination: zeros where zeros are part of the answer, or beta ·
// destination.
//
// Plan.destination (extents, strides) → axes sorted by stride, neighbours merged → tiles of the
// outermost one. Every element is written exactly once (a destination is injective); gaps are not
// touched. Fill never reads. The three reasons for a fill are FillReason's, none is a habit.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/backends.h"

namespace einjit {
namespace {

constexpr std::int64_t kTileElements = 1 << 18;  // 2 MiB of f64: well under a millisecond a tile
constexpr std::size_t kMostAxes = 63;  // of extent 2 or more: an address space holds no more

struct Axis {
  std::int64_t extent = 1;
  std::int64_t stride = 0;  // bytes
};

/// The axes of a layout, outermost first: the larger stride outside, neighbours that run on merged.
std::vector<Axis> merged_axes(const Layout& layout) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < layout.extents.size(); ++i)
    if (layout.extents[i] > 1)
      axes.push_back({layout.extents[i],
                      layout.strides[i] * static_cast<std::int64_t>(size_bytes(layout.type))});
  std::sort(axes.begin(), axes.end(),
            [](const Axis& x, const Axis& y) { return std::abs(x.stride) > std::abs(y.stride); });
  std::vector<Axis> merged;
  for (const Axis& axis : axes) {
    if (!merged.empty() && merged.back().stride == axis.extent * axis.stride)
      merged.back() = {merged.back().extent * axis.extent, axis.stride};
    else
      merged.push_back(axis);
  }
  if (merged.empty()) merged.push_back({1, 0});
  return merged;
}

/// A run of n elements `stride` bytes apart.
void fill_run(std::byte* at, std::int64_t n, std::int64_t stride, std::size_t element) {
  if (stride == static_cast<std::int64_t>(element) || n == 1) {
    std::memset(at, 0, static_cast<std::size_t>(n) * element);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) std::memset(at + i * stride, 0, element);
}

template <class R, bool complex>
void scale_run(std::byte* at, std::int64_t n, std::int64_t stride, std::array<double, 2> beta) {
  const R re = static_cast<R>(beta[0]), im = static_cast<R>(beta[1]);
  for (std::int64_t i = 0; i < n; ++i) {
    R x[complex ? 2 : 1];
    std::memcpy(x, at + i * stride, sizeof x);
    if constexpr (complex) {
      const R product[2] = {re * x[0] - im * x[1], re * x[1] + im * x[0]};
      std::memcpy(at + i * stride, product, sizeof product);
    } else {
      const R product = re * x[0];
      std::memcpy(at + i * stride, &product, sizeof product);
    }
  }
}

class FillStep final : public PreparedStep {
 public:
  FillStep(const Layout& layout, StepKind kind, bool beta_one) : type_(layout.type), kind_(kind) {
    nothing_ = (kind == StepKind::scale && beta_one) ||
               std::find(layout.extents.begin(), layout.extents.end(), 0) != layout.extents.end();
    if (nothing_) return;
    axes_ = merged_axes(layout);
    if (axes_.size() > kMostAxes)
      throw std::logic_error("fill: " + std::to_string(axes_.size()) + " axes of a destination, " +
                             std::to_string(kMostAxes) + " fit an address space");
    std::int64_t inside = 1;
    for (std::size_t i = 1; i < axes_.size(); ++i) inside *= axes_[i].extent;
    rows_ = std::clamp<std::int64_t>(kTileElements / inside, 1, axes_.front().extent);
    tiles_ = (axes_.front().extent + rows_ - 1) / rows_;
  }
  std::string_view backend() const override { return "fill"; }
  std::int64_t tiles() const override { return tiles_; }

  void run(const StepPointers& pointers, std::int64_t tile) const noexcept override {
    if (nothing_) return;
    const Axis& outer = axes_.front();
    const std::int64_t first = tile * rows_, rows = std::min(rows_, outer.extent - first);
    std::byte* const base = pointers.c + first * outer.stride;
    if (axes_.size() == 1) return run_over(base, rows, outer.stride, pointers.beta);
    std::array<std::int64_t, kMostAxes> index{};
    const auto extent = [&](std::size_t i) { return i == 0 ? rows : axes_[i].extent; };
    const std::size_t inner = axes_.size() - 1;
    for (std::byte* at = base;;) {
      run_over(at, axes_[inner].extent, axes_[inner].stride, pointers.beta);
      std::size_t i = inner;
      for (; i-- > 0;) {
        at += axes_[i].stride;
        if (++index[i] < extent(i)) break;
        at -= extent(i) * axes_[i].stride;
        index[i] = 0;
        if (i == 0) return;
      }
    }
  }

 private:
  void run_over(std::byte* at, std::int64_t n, std::int64_t stride,
                const std::array<double, 2>& beta) const {
    if (kind_ == StepKind::fill) return fill_run(at, n, stride, size_bytes(type_));
    switch (type_) {
      case DType::f32:
        return scale_run<float, false>(at, n, stride, beta);
      case DType::f64:
        return scale_run<double, false>(at, n, stride, beta);
      case DType::c64:
        return scale_run<float, true>(at, n, stride, beta);
      case DType::c128:
        return scale_run<double, true>(at, n, stride, beta);
    }
  }

  DType type_;
  StepKind kind_;
  bool nothing_ = false;
  std::vector<Axis> axes_;
  std::int64_t rows_ = 1;  // of the outermost axis, a tile
  std::int64_t tiles_ = 1;
};

}  // namespace

std::unique_ptr<PreparedStep> make_fill_step(const Plan& plan, const Step& step) {
  if (step.kind == StepKind::contract)
    throw std::logic_error("make_fill_step: a contract step, where fill or scale is meant");
  if (step.kind == StepKind::fill && step.reason == FillReason::none)
    throw std::logic_error("make_fill_step: a fill without a reason, where one must be named");
  return std::make_unique<FillStep>(plan.destination, step.kind, plan.beta == ScalarClass::one);
}

}  // namespace einjit
