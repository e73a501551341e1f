// Who still needs a label: counts over live tensors, and the rule by which labels leave.
#include "planner/label_holders.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace einjit {

LabelHolders::LabelHolders(const Network& network) : count_(network.log2_extents.size(), 0) {
  for (const auto& tensor : network.tensors)
    for (const LabelId label : tensor) ++count_[static_cast<std::size_t>(label)];
  for (const LabelId label : network.output) ++count_[static_cast<std::size_t>(label)];
}

std::vector<LabelId> LabelHolders::sum_own(const std::vector<LabelId>& tensor) {
  std::vector<LabelId> kept;
  for (const LabelId label : tensor) {
    if (count(label) > 1)
      kept.push_back(label);
    else
      count_[static_cast<std::size_t>(label)] = 0;
  }
  return kept;
}

std::vector<LabelId> LabelHolders::join(const std::vector<LabelId>& a,
                                        const std::vector<LabelId>& b) {
  std::vector<LabelId> all;
  all.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::int32_t& needed = count_[static_cast<std::size_t>(all[i])];
    if (i + 1 < all.size() && all[i + 1] == all[i]) {
      --needed;
      ++i;
    }
    if (needed > 1)
      all[kept++] = all[i];
    else
      needed = 0;
  }
  all.resize(kept);
  return all;
}

Network joinable_network(const Network& network) {
  LabelHolders holders(network);
  Network joinable;
  joinable.log2_extents = network.log2_extents;
  for (double& extent : joinable.log2_extents) extent = std::max(extent, 0.0);
  for (const auto& tensor : network.tensors) joinable.tensors.push_back(holders.sum_own(tensor));
  std::vector<bool> held(network.log2_extents.size(), false);
  for (const auto& tensor : joinable.tensors)
    for (const LabelId label : tensor) held[static_cast<std::size_t>(label)] = true;
  for (const LabelId label : network.output)
    if (held[static_cast<std::size_t>(label)]) joinable.output.push_back(label);
  return joinable;
}

void check_tree(const ContractionTree& tree, std::size_t leaves) {
  const auto fail = [](const std::string& what) {
    throw std::logic_error("contraction tree: " + what);
  };
  if (static_cast<std::size_t>(tree.leaves) != leaves)
    fail("it has " + std::to_string(tree.leaves) + " leaves, the network " +
         std::to_string(leaves) + " tensors");
  if (tree.joins.size() + 1 != leaves)
    fail("it has " + std::to_string(tree.joins.size()) + " joins for " + std::to_string(leaves) +
         " leaves");
  std::vector<bool> used(leaves + tree.joins.size(), false);
  for (std::size_t i = 0; i < tree.joins.size(); ++i) {
    for (const std::int32_t side : {tree.joins[i].left, tree.joins[i].right}) {
      if (side < 0 || static_cast<std::size_t>(side) >= leaves + i)
        fail("join " + std::to_string(i) + " uses tensor " + std::to_string(side) + ", but only " +
             std::to_string(leaves + i) + " exist before it");
      if (used[static_cast<std::size_t>(side)])
        fail("join " + std::to_string(i) + " uses tensor " + std::to_string(side) + " again");
      used[static_cast<std::size_t>(side)] = true;
    }
  }
}

}  // namespace einjit
