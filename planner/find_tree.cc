// Finds a tree that obeys the nesting: every group is a network of its own.
//
// Groups are solved in their order, inner ones first. Inside a group the output is what anybody
// outside it needs: another tensor, or the destination. Labels are renumbered densely per group, so
// that thousands of nested groups stay linear. The joins of the result stand depth-first.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "einjit/error.h"
#include "einjit/tree.h"
#include "planner/label_holders.h"
#include "planner/nested.h"

namespace einjit {
namespace {

const PathFinder& finder_named(std::string_view name) {
  std::string known;
  for (const PathFinder* finder : path_finders()) {
    if (finder->name == name) return *finder;
    known += (known.empty() ? "" : ", ") + std::string(finder->name);
  }
  throw Error(ErrorCode::invalid_argument,
              "there is no path finder named \"" + std::string(name) + "\"; there are: " + known);
}

class NestedSearch {
 public:
  NestedSearch(const Network& network, const PathFinder& finder, const SearchBudget& budget)
      : finder_(finder),
        budget_(budget),
        network_(network),
        labels_(network.tensors),
        count_(network.log2_extents.size(), 0),
        local_(network.log2_extents.size(), -1) {
    tree_.leaves = static_cast<std::int32_t>(labels_.size());
    for (const auto& tensor : labels_)
      for (const LabelId label : tensor) ++count_[at(label)];
    for (const LabelId label : network.output) ++count_[at(label)];
  }

  /// Joins the items (SSA numbers) into one tensor and returns its number.
  std::int32_t solve(const std::vector<std::int32_t>& items) {
    std::vector<LabelId> all;  // local → label
    const Network group = group_network(items, all);
    const ContractionTree found = search(group);
    std::vector<std::int32_t> number = items;  // of the group's SSA numbers in the whole tree
    for (const ContractionTree::Join& join : found.joins) {
      tree_.joins.push_back({number[at(join.left)], number[at(join.right)]});
      number.push_back(tree_.leaves + static_cast<std::int32_t>(tree_.joins.size()) - 1);
    }
    replace(items, group, all);
    return number.back();
  }

  ContractionTree take() { return std::move(tree_); }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

  Network group_network(const std::vector<std::int32_t>& items, std::vector<LabelId>& all) {
    Network group;
    for (const std::int32_t item : items)
      all.insert(all.end(), labels_[at(item)].begin(), labels_[at(item)].end());
    std::sort(all.begin(), all.end());
    std::vector<std::int32_t> inside;
    std::size_t distinct = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (distinct == 0 || all[i] != all[distinct - 1]) {
        all[distinct++] = all[i];
        inside.push_back(0);
      }
      ++inside.back();
    }
    all.resize(distinct);
    for (std::size_t i = 0; i < all.size(); ++i) {
      local_[at(all[i])] = static_cast<LabelId>(i);
      group.log2_extents.push_back(network_.log2_extents[at(all[i])]);
      if (count_[at(all[i])] > inside[i]) group.output.push_back(static_cast<LabelId>(i));
      count_[at(all[i])] -= inside[i];
    }
    for (const std::int32_t item : items) {
      group.tensors.push_back(std::move(labels_[at(item)]));
      for (LabelId& label : group.tensors.back()) label = local_[at(label)];
    }
    return group;
  }

  ContractionTree search(const Network& group) const {
    const std::size_t n = group.tensors.size();
    if (n == 1) return {1, {}};
    if (!finder_.accepts(group))
      throw Error(ErrorCode::invalid_argument,
                  "the path finder \"" + std::string(finder_.name) +
                      "\" does not take a network of " + std::to_string(n) + " operands (" +
                      std::string(finder_.summary) +
                      "): choose another, such as \"auto\", or group the operands");
    if (n == 2) return {2, {{0, 1}}};
    ContractionTree found = finder_.find(group, budget_);
    check_tree(found, n);
    return found;
  }

  /// The group's result takes the place of its items.
  void replace(const std::vector<std::int32_t>& items, const Network& group,
               const std::vector<LabelId>& all) {
    std::vector<LabelId> result;
    for (const LabelId local : group.output) {
      result.push_back(all[at(local)]);
      ++count_[at(all[at(local)])];
    }
    labels_.resize(at(tree_.leaves) + tree_.joins.size());
    if (items.size() > 1) labels_.back() = std::move(result);
  }

  const PathFinder& finder_;
  const SearchBudget& budget_;
  const Network& network_;
  std::vector<std::vector<LabelId>> labels_;  // per SSA number; moved from once joined
  std::vector<std::int32_t> count_;  // per label: live tensors that hold it, and the output
  std::vector<LabelId> local_;
  ContractionTree tree_;
};

ContractionTree depth_first_tree(const ContractionTree& tree) {
  Groups groups;
  for (const ContractionTree::Join& join : tree.joins) {
    const auto item = [&](std::int32_t side) {
      return side < tree.leaves ? side : ~(side - tree.leaves);
    };
    groups.push_back({item(join.left), item(join.right)});
  }
  ContractionTree ordered{tree.leaves, {}};
  for (const auto& group : renumbered_depth_first(groups)) {
    const auto side = [&](std::int32_t item) { return item >= 0 ? item : tree.leaves + ~item; };
    ordered.joins.push_back({side(group[0]), side(group[1])});
  }
  return ordered;
}

}  // namespace

ContractionTree find_tree(const Contraction& contraction, std::string_view finder,
                          const SearchBudget& budget) {
  return with_typed_memory_errors([&]() -> ContractionTree {
    const PathFinder& chosen = finder_named(finder);
    const Network network = network_of(contraction);
    NestedSearch search(network, chosen, budget);
    const auto& groups = contraction.nesting.groups;
    if (groups.empty()) {
      std::vector<std::int32_t> everything(network.tensors.size());
      for (std::size_t i = 0; i < everything.size(); ++i)
        everything[i] = static_cast<std::int32_t>(i);
      search.solve(everything);
      return depth_first_tree(search.take());
    }
    std::vector<std::int32_t> made;  // per group: the SSA number of its result
    for (const auto& group : groups) {
      std::vector<std::int32_t> items = group;
      for (std::int32_t& item : items)
        if (item < 0) item = made[static_cast<std::size_t>(~item)];
      made.push_back(search.solve(items));
    }
    return depth_first_tree(search.take());
  });
}

}  // namespace einjit
