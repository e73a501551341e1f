// The exact search: the tree of fewest multiply-adds.
#pragma once

#include "einjit/tree.h"

namespace einjit {

/// Most tensors that subset_search takes: 3^18 / 2 splits, about a second.
inline constexpr std::size_t kMostSubsetTensors = 18;

/// Dynamic programming over all subsets of the tensors, outer products included. Minimizes the sum
/// of the joins' products of extents; of equal trees the one found first in the order of subset
/// numbers, so that names of labels decide nothing. Throws cancelled when the budget says stop.
ContractionTree subset_search(const Network& network, const SearchBudget& budget);

}  // namespace einjit
