// Operands and destinations as steps see them: one entry a label, diagonals merged, axes of extent 1 gone.
#pragma once

#include "einjit/plan.h"

namespace einjit {

/// The axes that carry `axes`' labels in a layout, merged. Broadcast axes (extent 1 under a larger label) are gone.
PlanTensor merged_tensor(const std::vector<LabelId>& axes, const Layout& layout,
                         const std::vector<std::int64_t>& extents);

/// Does the output write a diagonal (a label of extent > 1 twice)?
bool writes_diagonal(const Contraction& contraction);

/// Is the product of these extents as elements of 16 bytes a ptrdiff_t? 0 where one extent is 0.
/// Throws size_overflow saying what it is the size of.
std::int64_t checked_bytes(const std::vector<std::int64_t>& extents, DType type, const std::string& what);

}  // namespace einjit
