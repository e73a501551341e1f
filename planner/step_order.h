// The order in which the joins of a tree run.
#pragma once

#include <cstdint>
#include <vector>

#include "einjit/tree.h"

namespace einjit {

/// Numbers of all joins, children before parents: depth-first, and of two children the one that
/// needs more memory first, so that what waits meanwhile is small. Extents by label.
std::vector<std::int32_t> step_order(const ContractionTree& tree, const Network& network,
                                     const std::vector<std::int64_t>& extents);

}  // namespace einjit
