// Nested lists of numbers: "((0,2),1)", and the groups that such a list is kept as.
//
// A group is a list of items; an item ≥ 0 is a leaf, an item < 0 is the group ~item. The last group
// is the outermost, and every other group is an item of exactly one group that stands after it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "einjit/error.h"

namespace einjit {

using Groups = std::vector<std::vector<std::int32_t>>;

/// The groups' numbers, each after those it holds, items from left to right. The outermost is last.
std::vector<std::int32_t> depth_first(const Groups& groups);
/// The same nesting with groups numbered in depth-first order.
Groups renumbered_depth_first(const Groups& groups);
/// The leaves from left to right.
std::vector<std::int32_t> leaves_in_order(const Groups& groups);

/// What text stands for each leaf and after each group's parenthesis.
struct NestedWords {
  std::vector<std::string> leaves;
  std::vector<std::string> after_groups;  // empty: nothing
  bool outer_parentheses = true;
};
std::string write_nested(const Groups& groups, const NestedWords& words);

/// Groups in the order in which they close; `numbers` are those written behind them, −1 for none.
/// A lone number ("7") is the leaf `lone` without groups.
struct NestedText {
  Groups groups;
  std::vector<std::int32_t> numbers;
  std::int32_t lone = -1;
};
/// Throws an Error of this code that shows where reading stopped.
NestedText read_nested(std::string_view text, ErrorCode code);

}  // namespace einjit
