// A tree and layouts → tensors and steps.
#pragma once

#include "einjit/plan.h"

namespace einjit {

/// Everything of a plan that follows from one tree but the backends: tensors, steps, waves, arena,
/// costs. Throws size_overflow (an intermediate, or all of them together).
Plan build_plan(const PlanKey& key, ContractionTree tree, std::span<const std::string> names);

}  // namespace einjit
