// Which axes of a step are one axis: one order a group for the whole step, then neighbours merge
// where every tensor agrees.
//
// Fusing each operand's axes in its own order pairs the wrong elements: `ab,ba->` is the smallest
// case (CONTRACTS §7). The order is taken from strides and extents alone, never from label numbers,
// so that renaming labels or permuting axes consistently gives the same step.
#include "planner/fuse.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <tuple>

namespace einjit {
namespace {

AxisGroup group_of(const LabelAxis& axis, bool unary) {
  const auto [a, b, c] = axis.in;
  if (unary) return c ? AxisGroup::left : AxisGroup::contracted;
  if (a && b) return c ? AxisGroup::batch : AxisGroup::contracted;
  if (!c || !(a || b))
    throw std::logic_error("fuse: a label that only one tensor of a two-operand step holds");
  return a ? AxisGroup::left : AxisGroup::right;
}

/// Outermost first: by the stride in c, or in a where c has not the axis; then by the others.
auto order_key(const StepAxis& axis, bool contracted) {
  const auto size = [&](int t) { return -std::abs(axis.strides[static_cast<std::size_t>(t)]); };
  const int first = contracted ? kA : kC, second = contracted ? kB : kA,
            third = contracted ? kC : kB;
  return std::tuple(size(first), size(second), size(third),
                    axis.strides[static_cast<std::size_t>(first)],
                    axis.strides[static_cast<std::size_t>(second)], -axis.extent);
}

}  // namespace

std::vector<LabelAxis> label_axes(const PlanTensor& a, const PlanTensor* b, const PlanTensor& c,
                                  const std::vector<std::int64_t>& extents) {
  std::vector<LabelId> labels;
  std::vector<LabelAxis> axes;
  const auto add = [&](const PlanTensor& tensor, std::size_t t) {
    for (std::size_t i = 0; i < tensor.labels.size(); ++i) {
      const LabelId label = tensor.labels[i];
      const auto known = std::find(labels.begin(), labels.end(), label);
      const auto at = static_cast<std::size_t>(known - labels.begin());
      if (known == labels.end()) {
        labels.push_back(label);
        axes.push_back({extents[static_cast<std::size_t>(label)], {}, {}});
      }
      axes[at].in[t] = true;
      axes[at].strides[t] = tensor.strides[i];
    }
  };
  add(a, kA);
  if (b != nullptr) add(*b, kB);
  add(c, kC);
  return axes;
}

bool may_fuse(const StepAxis& outer, const StepAxis& inner) {
  for (std::size_t t = 0; t < 3; ++t)
    if (outer.strides[t] != inner.strides[t] * inner.extent) return false;
  return true;
}

Geometry fuse(const std::vector<LabelAxis>& axes, bool unary) {
  Geometry groups;
  for (const LabelAxis& axis : axes)
    groups[static_cast<std::size_t>(group_of(axis, unary))].push_back({axis.extent, axis.strides});
  for (const AxisGroup g : kAxisGroups) {
    std::vector<StepAxis>& group = groups[static_cast<std::size_t>(g)];
    const bool contracted = g == AxisGroup::contracted;
    std::sort(group.begin(), group.end(), [&](const StepAxis& x, const StepAxis& y) {
      return order_key(x, contracted) < order_key(y, contracted);
    });
    std::vector<StepAxis> fused;
    for (const StepAxis& axis : group) {
      std::int64_t extent = 0;  // of zero strides an extent past 2^63 could come
      if (!fused.empty() && may_fuse(fused.back(), axis) &&
          !__builtin_mul_overflow(fused.back().extent, axis.extent, &extent))
        fused.back() = {extent, axis.strides};
      else
        fused.push_back(axis);
    }
    group = std::move(fused);
  }
  return groups;
}

}  // namespace einjit
