// The canonical form of a step: its axes in four groups, in one order for all three tensors, fused.
#pragma once

#include <cstdint>
#include <vector>

#include "einjit/plan.h"

namespace einjit {

/// One label of a step before fusing: its extent, where it lives, and its stride there.
struct LabelAxis {
  std::int64_t extent = 1;
  std::array<bool, 3> in{};  // a, b, c
  std::array<std::int64_t, 3> strides{};
};

/// The axes of a step, by the labels of its tensors (extents by label).
std::vector<LabelAxis> label_axes(const PlanTensor& a, const PlanTensor* b, const PlanTensor& c,
                                  const std::vector<std::int64_t>& extents);

/// Two neighbours of one group are one axis only where every tensor walks them as one.
bool may_fuse(const StepAxis& outer, const StepAxis& inner);

Geometry fuse(const std::vector<LabelAxis>& axes, bool unary);

}  // namespace einjit
