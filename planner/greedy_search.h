// The greedy search: always the join that frees the most.
#pragma once

#include "einjit/tree.h"

namespace einjit {

/// Joins in the order of size(result) − operand_weight · (size(a) + size(b)), smallest first, ties
/// by SSA numbers; near-linear in the size of the network. Throws cancelled when the budget says
/// stop.
ContractionTree greedy_search(const Network& network, const SearchBudget& budget,
                              double operand_weight);

}  // namespace einjit
