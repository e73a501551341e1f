// How the result of a step lies in memory: the one place that decides the label order of
// intermediates.
#pragma once

#include <span>
#include <string>

#include "einjit/plan.h"

namespace einjit {

/// A dense row-major tensor that holds `labels`, made from a and b (null: one operand). `names` are
/// for sentences. Throws size_overflow.
PlanTensor intermediate_tensor(const std::vector<LabelId>& labels, const PlanTensor& a,
                               const PlanTensor* b, DType type,
                               const std::vector<std::int64_t>& extents,
                               std::span<const std::string> names);

/// The labels of a tensor as users see them, run together; the first 32 of more.
std::string label_names(const std::vector<LabelId>& labels, std::span<const std::string> names);

}  // namespace einjit
