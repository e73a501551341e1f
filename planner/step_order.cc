// The order in which the joins of a tree run: Sethi and Ullman's rule for the register need of an
// expression, with bytes for registers ("The generation of optimal code for arithmetic
// expressions", 1970). Iterative: a chain of any length works.
#include "planner/step_order.h"

#include <algorithm>
#include <iterator>

namespace einjit {
namespace {

/// Elements of every tensor of the tree, operands as 0 (they are not ours), by SSA number.
std::vector<double> tensor_sizes(const ContractionTree& tree, const Network& network,
                                 const std::vector<std::int64_t>& extents) {
  std::vector<std::int32_t> holders(extents.size(), 0);
  for (const auto& labels : network.tensors)
    for (const LabelId l : labels) ++holders[static_cast<std::size_t>(l)];
  for (const LabelId l : network.output) ++holders[static_cast<std::size_t>(l)];
  std::vector<std::vector<LabelId>> labels = network.tensors;
  std::vector<double> sizes(labels.size(), 0);
  for (const ContractionTree::Join& join : tree.joins) {
    std::vector<LabelId> kept;
    auto& l = labels[static_cast<std::size_t>(join.left)];
    auto& r = labels[static_cast<std::size_t>(join.right)];
    for (const LabelId x : l) --holders[static_cast<std::size_t>(x)];
    for (const LabelId x : r) --holders[static_cast<std::size_t>(x)];
    std::set_union(l.begin(), l.end(), r.begin(), r.end(), std::back_inserter(kept));
    std::erase_if(kept, [&](LabelId x) { return holders[static_cast<std::size_t>(x)] == 0; });
    double size = 1;
    for (const LabelId x : kept) {
      ++holders[static_cast<std::size_t>(x)];
      size *= static_cast<double>(extents[static_cast<std::size_t>(x)]);
    }
    l = r = {};
    labels.push_back(std::move(kept));
    sizes.push_back(size);
  }
  return sizes;
}

/// Per join: does the right child need more than the left one, so that it should run first?
std::vector<bool> right_first(const ContractionTree& tree, const std::vector<double>& sizes) {
  std::vector<double> need(sizes.size(), 0);
  std::vector<bool> answer(tree.joins.size());
  const auto leaves = static_cast<std::size_t>(tree.leaves);
  for (std::size_t j = 0; j < tree.joins.size(); ++j) {
    const auto l = static_cast<std::size_t>(tree.joins[j].left);
    const auto r = static_cast<std::size_t>(tree.joins[j].right);
    const double left_first = std::max(need[l], sizes[l] + need[r]);
    const double other = std::max(need[r], sizes[r] + need[l]);
    answer[j] = other < left_first;
    need[leaves + j] =
        std::max(std::min(left_first, other), sizes[l] + sizes[r] + sizes[leaves + j]);
  }
  return answer;
}

}  // namespace

std::vector<std::int32_t> step_order(const ContractionTree& tree, const Network& network,
                                     const std::vector<std::int64_t>& extents) {
  const std::vector<bool> swapped = right_first(tree, tensor_sizes(tree, network, extents));
  std::vector<std::int32_t> order, stack;
  if (!tree.joins.empty()) stack.push_back(static_cast<std::int32_t>(tree.joins.size()) - 1);
  while (!stack.empty()) {  // parents before children, the later child first; reversed at the end
    const std::int32_t j = stack.back();
    stack.pop_back();
    order.push_back(j);
    const ContractionTree::Join& join = tree.joins[static_cast<std::size_t>(j)];
    std::int32_t first = join.left, second = join.right;
    if (swapped[static_cast<std::size_t>(j)]) std::swap(first, second);
    if (first >= tree.leaves) stack.push_back(first - tree.leaves);
    if (second >= tree.leaves) stack.push_back(second - tree.leaves);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace einjit
