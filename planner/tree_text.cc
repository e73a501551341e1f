// Contraction trees as text: "((0,1),2)".
//
// Where joins do not stand depth-first, each is followed by its SSA number, "((2,3)5,(0,1)4)6", so
// that the order of steps reads back too.
#include <string>
#include <utility>

#include "einjit/error.h"
#include "einjit/tree.h"
#include "planner/label_holders.h"
#include "planner/nested.h"

namespace einjit {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ErrorCode::invalid_path, sentence);
}

/// Where each join of the text goes: by the numbers written behind them, or as they stand.
std::vector<std::size_t> places(const NestedText& text, std::size_t leaves) {
  std::vector<std::size_t> place(text.groups.size());
  std::size_t numbered = 0;
  for (std::size_t i = 0; i < place.size(); ++i) {
    place[i] = i;
    if (text.numbers[i] < 0) continue;
    ++numbered;
    const auto number = static_cast<std::size_t>(text.numbers[i]);
    if (number < leaves || number >= leaves + place.size())
      refuse("a join of the tree is numbered " + std::to_string(number) + "; with " +
             std::to_string(leaves) + " leaves the numbers run from " + std::to_string(leaves) +
             " to " + std::to_string(leaves + place.size() - 1));
    place[i] = number - leaves;
  }
  if (numbered != 0 && numbered != place.size())
    refuse("some joins of the tree are numbered and some are not");
  return place;
}

}  // namespace

std::string to_text(const ContractionTree& tree) {
  return with_typed_memory_errors([&]() -> std::string {
    check_tree(tree, static_cast<std::size_t>(tree.leaves));
    if (tree.joins.empty()) return "0";
    const auto item = [&](std::int32_t side) {
      return side < tree.leaves ? side : ~(side - tree.leaves);
    };
    Groups groups;
    NestedWords words;
    for (const ContractionTree::Join& join : tree.joins)
      groups.push_back({item(join.left), item(join.right)});
    for (std::int32_t i = 0; i < tree.leaves; ++i) words.leaves.push_back(std::to_string(i));
    if (renumbered_depth_first(groups) != groups)
      for (std::size_t i = 0; i < groups.size(); ++i)
        words.after_groups.push_back(std::to_string(words.leaves.size() + i));
    return write_nested(groups, words);
  });
}

ContractionTree parse_tree(std::string_view text) {
  return with_typed_memory_errors([&]() -> ContractionTree {
    const NestedText nested = read_nested(text, ErrorCode::invalid_path);
    if (nested.groups.empty()) {
      if (nested.lone != 0)
        refuse("a tree of one leaf is \"0\", not \"" + std::to_string(nested.lone) + "\"");
      return {1, {}};
    }
    const std::size_t leaves = nested.groups.size() + 1;
    const std::vector<std::size_t> place = places(nested, leaves);
    ContractionTree tree{static_cast<std::int32_t>(leaves), {}};
    tree.joins.assign(nested.groups.size(), {-1, -1});
    std::vector<bool> leaf_used(leaves, false), join_used(leaves, false);
    for (std::size_t i = 0; i < nested.groups.size(); ++i) {
      const auto& group = nested.groups[i];
      if (group.size() != 2)
        refuse("a group of " + std::to_string(group.size()) +
               " in a tree; every join has two sides");
      const auto side = [&](std::int32_t item) {
        if (item < 0) {
          const std::size_t made = place[static_cast<std::size_t>(~item)];
          if (made >= place[i])
            refuse("join " + std::to_string(leaves + place[i]) + " holds the later join " +
                   std::to_string(leaves + made));
          return static_cast<std::int32_t>(leaves + made);
        }
        const auto leaf = static_cast<std::size_t>(item);
        if (leaf >= leaves)
          refuse("leaf " + std::to_string(leaf) + " in a tree of " + std::to_string(leaves) +
                 " leaves");
        if (leaf_used[leaf]) refuse("leaf " + std::to_string(leaf) + " stands twice in the tree");
        leaf_used[leaf] = true;
        return item;
      };
      if (join_used[place[i]])
        refuse("two joins of the tree are numbered " + std::to_string(leaves + place[i]));
      join_used[place[i]] = true;
      const std::int32_t left = side(group[0]);
      tree.joins[place[i]] = {left, side(group[1])};
    }
    return tree;
  });
}

}  // namespace einjit
