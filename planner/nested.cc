// Nested lists of numbers: depth-first order, writing and reading. Nothing here recurses.
#include "planner/nested.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace einjit {
namespace {

/// Walks all items depth-first from the last group. `enter(group)`, `leaf(item)`, `leave(group)`;
/// `next(index)` before every item.
template <class Enter, class Next, class Leaf, class Leave>
void walk(const Groups& groups, Enter enter, Next next, Leaf leaf, Leave leave) {
  if (groups.empty()) return;
  struct Frame {
    std::size_t group, item;
  };
  std::vector<Frame> stack{{groups.size() - 1, 0}};
  enter(groups.size() - 1);
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.item == groups[frame.group].size()) {
      leave(frame.group);
      stack.pop_back();
      continue;
    }
    next(frame.item);
    const std::int32_t item = groups[frame.group][frame.item++];
    if (item >= 0) {
      leaf(static_cast<std::size_t>(item));
    } else {
      enter(static_cast<std::size_t>(~item));
      stack.push_back({static_cast<std::size_t>(~item), 0});
    }
  }
}

constexpr auto kIgnore = [](std::size_t) {};

class NestedReader {
 public:
  NestedReader(std::string_view text, ErrorCode code) : text_(text), code_(code) {}

  NestedText read() {
    std::int32_t item = 0;
    do {
      item = read_item();
      while (!open_.empty() && peek() == ')') {
        open_.back().push_back(item);
        item = close_group();
      }
      if (open_.empty()) break;
      open_.back().push_back(item);
    } while (take(','));
    if (!open_.empty()) fail("',' or ')' is expected");
    if (peek() != '\0' || at_ != text_.size()) fail("the end is expected");
    if (item >= 0) result_.lone = item;
    return std::move(result_);
  }

 private:
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  std::int32_t read_item() {
    while (take('(')) open_.emplace_back();
    return read_number();
  }

  std::int32_t read_number() {
    if (peek() < '0' || peek() > '9') fail("a position or '(' is expected");
    std::int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      value = 10 * value + (text_[at_] - '0');
      if (value > std::numeric_limits<std::int32_t>::max()) fail("this number is too large");
    }
    return static_cast<std::int32_t>(value);
  }

  std::int32_t close_group() {
    ++at_;
    const bool numbered = peek() >= '0' && peek() <= '9';
    result_.numbers.push_back(numbered ? read_number() : -1);
    result_.groups.push_back(std::move(open_.back()));
    open_.pop_back();
    return ~static_cast<std::int32_t>(result_.groups.size() - 1);
  }

  [[noreturn]] void fail(const std::string& what) const {
    constexpr std::size_t kShown = 24;
    const std::size_t first = at_ > kShown ? at_ - kShown : 0;
    throw Error(code_, what + " at character " + std::to_string(at_ + 1) +
                           " of a nested list: " + (first > 0 ? "…" : "") +
                           std::string(text_.substr(first, at_ - first)) + " ⟨here⟩ " +
                           std::string(text_.substr(std::min(at_, text_.size()), kShown)));
  }

  std::string_view text_;
  ErrorCode code_;
  std::size_t at_ = 0;
  Groups open_;
  NestedText result_;
};

}  // namespace

std::vector<std::int32_t> depth_first(const Groups& groups) {
  std::vector<std::int32_t> order;
  order.reserve(groups.size());
  walk(groups, kIgnore, kIgnore, kIgnore,
       [&](std::size_t group) { order.push_back(static_cast<std::int32_t>(group)); });
  return order;
}

Groups renumbered_depth_first(const Groups& groups) {
  const std::vector<std::int32_t> order = depth_first(groups);
  std::vector<std::int32_t> number(groups.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    number[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  Groups result;
  result.reserve(groups.size());
  for (const std::int32_t old : order) {
    result.push_back(groups[static_cast<std::size_t>(old)]);
    for (std::int32_t& item : result.back())
      if (item < 0) item = ~number[static_cast<std::size_t>(~item)];
  }
  return result;
}

std::vector<std::int32_t> leaves_in_order(const Groups& groups) {
  std::vector<std::int32_t> leaves;
  walk(
      groups, kIgnore, kIgnore,
      [&](std::size_t leaf) { leaves.push_back(static_cast<std::int32_t>(leaf)); }, kIgnore);
  return leaves;
}

std::string write_nested(const Groups& groups, const NestedWords& words) {
  std::string text;
  const auto bare = [&](std::size_t g) {
    return !words.outer_parentheses && g + 1 == groups.size();
  };
  walk(
      groups,
      [&](std::size_t group) {
        if (!bare(group)) text += '(';
      },
      [&](std::size_t index) {
        if (index > 0) text += ',';
      },
      [&](std::size_t leaf) { text += words.leaves[leaf]; },
      [&](std::size_t group) {
        if (!bare(group)) text += ')';
        if (!words.after_groups.empty()) text += words.after_groups[group];
      });
  return text;
}

NestedText read_nested(std::string_view text, ErrorCode code) {
  return NestedReader(text, code).read();
}

}  // namespace einjit
