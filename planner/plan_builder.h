// A tree and layouts → tensors and steps.
#pragma once

#include "einjit/plan.h"

namespace einjit {

/// Everything of a plan that follows from one tree: tensors, steps, waves, arena, costs.
Plan build_plan(const PlanKey& key, const Machine& machine, ContractionTree tree,
                std::span<const std::string> names);

}  // namespace einjit
