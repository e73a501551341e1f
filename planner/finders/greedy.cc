// The path finder "greedy": always the join that frees the most. Near-linear, for any network.
#include "planner/greedy_search.h"

namespace einjit::finders {
namespace {

constexpr double kOperandWeight = 1;  // result − operands: what the join adds to the memory in use

bool accepts(const Network&) { return true; }
ContractionTree find(const Network& network, const SearchBudget& budget) {
  return greedy_search(network, budget, kOperandWeight);
}

}  // namespace

extern const PathFinder greedy;
constinit const PathFinder greedy{"greedy", "joins what frees the most memory first; any size",
                                  &accepts, &find};

}  // namespace einjit::finders
