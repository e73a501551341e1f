// The path finder "auto": the best of cheap greedy searches; the exact one where it takes no time
// or less than it may save.
//
// (Its file cannot be named after it: `auto` is no identifier.)
#include <cmath>

#include "planner/greedy_search.h"
#include "planner/subset_search.h"

namespace einjit::finders {
namespace {

constexpr std::size_t kExactTensors = 10;     // 3^10 / 2 splits: below a millisecond
constexpr std::size_t kVariedTensors = 6000;  // above, some weights take seconds on random graphs
// 1 weighs what a join adds to the memory in use; 0 takes the smallest result; larger ones clear
// large operands first, which grows one stem. On published networks each of these is the best
// somewhere: tc of 1 | 0 | 2 | 8 is 34.6 | 37.7 | 37.1 | 36.9 on a closed MERA, 31.9 | 29.6 | 31.9
// | 32.1 on a QFT of 27, 43.0 | 47.0 | 42.1 | 47.9 on a 3-regular graph, 89.6 | 93.1 | 103.0 | 63.7
// on Sycamore 53, depth 20.
constexpr double kOperandWeights[] = {1, 0, 2, 8};

// What one split of the exact search costs in multiply-adds of a step that memory feeds: 5 ns, 1
// ns.
constexpr double kSplitWork = 5;

/// Whether the exact search ends before a tree of these costs has run once.
bool exact_pays(std::size_t tensors, const Costs& costs) {
  return tensors <= kMostSubsetTensors &&
         kSplitWork * std::pow(3.0, static_cast<double>(tensors)) / 2 <= costs.flops;
}

bool accepts(const Network&) { return true; }

ContractionTree find(const Network& network, const SearchBudget& budget) {
  const std::size_t tensors = network.tensors.size();
  if (tensors <= kExactTensors) return subset_search(network, budget);
  ContractionTree best = greedy_search(network, budget, kOperandWeights[0]);
  if (tensors > kVariedTensors) return best;
  Costs least = cost_of(network, best);
  for (std::size_t i = 1; i < std::size(kOperandWeights); ++i) {
    ContractionTree other = greedy_search(network, budget, kOperandWeights[i]);
    const Costs costs = cost_of(network, other);
    if (costs.tc < least.tc) {
      least = costs;
      best = std::move(other);
    }
  }
  if (exact_pays(tensors, least)) return subset_search(network, budget);
  return best;
}

}  // namespace

extern const PathFinder automatic;
constinit const PathFinder automatic{
    "auto", "optimal up to 10 operands, to 18 where it pays, else the best of four greedy searches",
    &accepts, &find};

}  // namespace einjit::finders
