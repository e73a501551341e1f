// The path finder "optimal": fewest multiply-adds, by trying every subset. For up to 18 operands.
#include "planner/subset_search.h"

namespace einjit::finders {
namespace {

bool accepts(const Network& network) { return network.tensors.size() <= kMostSubsetTensors; }

}  // namespace

extern const PathFinder optimal;
constinit const PathFinder optimal{"optimal", "fewest multiply-adds; up to 18 operands", &accepts,
                                   &subset_search};

}  // namespace einjit::finders
