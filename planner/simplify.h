// Operands and destinations as steps see them: one entry a label, diagonals merged, no axis of
// extent 1.
#pragma once

#include <functional>
#include <string>

#include "einjit/plan.h"

namespace einjit {

/// A tensor laid out so, its axes under these labels, merged. Broadcast axes (extent 1 under a
/// larger label) are gone. Extents by label.
PlanTensor merged_tensor(const std::vector<LabelId>& axes, const Layout& layout,
                         const std::vector<std::int64_t>& extents);

/// Does the output write a diagonal (a label of extent > 1 twice)?
bool writes_diagonal(const Contraction& contraction);

/// The bytes of a dense tensor; 0 where one extent is 0. Throws size_overflow saying what it is the
/// size of.
std::int64_t checked_bytes(const std::vector<std::int64_t>& extents, DType type,
                           const std::function<std::string()>& what);

}  // namespace einjit
