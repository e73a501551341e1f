// Reads an expression: text → terms, output, nesting.
//
//   expression = list [ "->" term ]      list = item { "," item }
//   item = term | "(" item "," list ")"  term = { label | "..." }
// White space stands between tokens only. One loop over the text with a stack of open groups, so
// that any depth of parentheses works. Every fault is invalid_expression with a caret (in code
// points).
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "einjit/error.h"
#include "planner/expression_reader.h"
#include "planner/letters.h"

namespace einjit {
namespace {

constexpr std::size_t kExcerptPoints = 36;  // shown on either side of the caret: fits 80 columns

std::string code_point_name(char32_t point) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string digits;
  for (char32_t rest = point; rest != 0 || digits.size() < 4; rest >>= 4)
    digits.insert(digits.begin(), kHex[rest & 0xF]);
  return "U+" + digits;
}

/// Two lines: the text around a column, and a caret below that column.
std::string caret_lines(const std::u32string& points, std::size_t column) {
  const std::size_t first = column > kExcerptPoints ? column - kExcerptPoints : 0;
  const std::size_t last = std::min(points.size(), column + kExcerptPoints);
  std::string text = "\n  ", below = "\n  ";
  if (first > 0) text += "…", below += ' ';
  for (std::size_t i = first; i < last; ++i) {
    const bool prints = points[i] >= 0x20 && !(points[i] >= 0x7F && points[i] < 0xA0) &&
                        points[i] != 0x2028 && points[i] != 0x2029;
    if (is_space(points[i]))
      text += ' ';
    else
      append_utf8(text, prints ? points[i] : U'\uFFFD');
  }
  if (last < points.size()) text += "…";
  below.append(column - first, ' ');
  return text + below + '^';
}

class Reader {
 public:
  Reader(std::u32string points, TermForm form) : points_(std::move(points)), form_(form) {}

  Expression read() {
    open_.push_back({});
    do {
      read_item();
    } while (another_item());
    finish_left_side();
    if (peek() == '-') {
      at_ += 2;
      expression_.output = read_term();
      refuse_after_output();
    }
    return std::move(expression_);
  }

  [[noreturn]] void fail(std::size_t column, const std::string& sentence) const {
    throw Error(ErrorCode::invalid_expression, sentence + caret_lines(points_, column));
  }

 private:
  struct OpenGroup {
    std::size_t column = 0;
    std::vector<std::int32_t> items;
  };
  static constexpr char32_t kEnd = 0xFFFFFFFF;

  char32_t at(std::size_t i) const { return i < points_.size() ? points_[i] : kEnd; }
  char32_t peek() {
    while (is_space(at(at_))) ++at_;
    return at(at_);
  }

  void read_item() {
    while (peek() == '(') {
      open_.push_back({at_, {}});
      ++at_;
    }
    open_.back().items.push_back(static_cast<std::int32_t>(expression_.inputs.size()));
    expression_.inputs.push_back(read_term());
  }

  /// Closes groups, then reads a comma (true) or stops before the end or "->" (false).
  bool another_item() {
    bool after_group = false;
    for (; peek() == ')'; ++at_, after_group = true) close_group();
    switch (const char32_t c = peek()) {
      case ',':
        ++at_;
        return true;
      case kEnd:
        return false;
      case '-':
        if (at(at_ + 1) == '>') return false;
        fail(at_, "'-' is no label; an arrow is written \"->\" without white space inside");
      case '(':
        fail(at_, "a group is an item of its own: write a comma before '('");
      default:
        if (after_group) fail(at_, "after ')' a comma, another ')' or \"->\" is expected");
        refuse(c);
    }
  }

  void close_group() {
    if (open_.size() == 1) fail(at_, "')' closes a group that was never opened");
    OpenGroup group = std::move(open_.back());
    open_.pop_back();
    if (group.items.size() < 2)
      fail(group.column,
           "a group holds at least two items; this one holds one: drop its parentheses");
    open_.back().items.push_back(~static_cast<std::int32_t>(expression_.nesting.groups.size()));
    expression_.nesting.groups.push_back(std::move(group.items));
  }

  void finish_left_side() {
    if (open_.size() > 1) fail(open_.back().column, "this '(' is never closed");
    auto& groups = expression_.nesting.groups;
    if (!groups.empty() && open_[0].items.size() > 1) groups.push_back(std::move(open_[0].items));
    if (groups.size() == 1) groups.clear();  // one flat group around everything fixes nothing
  }

  void refuse_after_output() {
    const char32_t c = peek();
    if (c == kEnd) return;
    if (c == ',') fail(at_, "the output is one term: no comma after \"->\"");
    if (c == '(' || c == ')') fail(at_, "the output is one term: no parentheses after \"->\"");
    if (c == '-' && at(at_ + 1) == '>') fail(at_, "a second \"->\": an expression has one arrow");
    refuse(c);
  }

  [[noreturn]] void refuse(char32_t c) const {
    if (form_ == TermForm::integers) fail(at_, "a term in brackets, such as [300 7], is expected");
    if (c >= '0' && c <= '9')
      fail(at_, "a digit is no label; labels are letters, or integers in the integer form");
    const bool ascii = c > 0x20 && c < 0x7F;
    fail(at_, (ascii ? "'" + std::string(1, static_cast<char>(c)) + "'" : code_point_name(c)) +
                  " is no label; labels are letters");
  }

  std::vector<Label> read_term() {
    return form_ == TermForm::letters ? read_letters() : read_integers();
  }

  std::vector<Label> read_letters() {
    std::vector<Label> term;
    bool ellipsis = false;
    for (char32_t c = peek();; c = peek()) {
      if (c == '.')
        read_ellipsis(term, ellipsis);
      else if (c != kEnd && is_letter(c))
        term.push_back(static_cast<Label>(points_[at_++]));
      else
        return term;
    }
  }

  std::vector<Label> read_integers() {
    std::vector<Label> term;
    bool ellipsis = false;
    if (peek() != '[') fail(at_, "a term in brackets, such as [300 7], is expected");
    ++at_;
    for (char32_t c = peek(); c != ']'; c = peek()) {
      if (c == '.')
        read_ellipsis(term, ellipsis);
      else
        term.push_back(read_integer());
    }
    ++at_;
    return term;
  }

  void read_ellipsis(std::vector<Label>& term, bool& already) {
    if (at(at_ + 1) != '.' || at(at_ + 2) != '.')
      fail(at_, "an ellipsis is three dots without white space inside: \"...\"");
    if (already) fail(at_, "a second \"...\" in one term");
    already = true;
    term.push_back(kEllipsis);
    at_ += 3;
  }

  Label read_integer() {
    const std::size_t start = at_;
    const bool negative = at(at_) == '-';
    if (negative) ++at_;
    std::int64_t value = 0;
    const std::size_t first_digit = at_;
    for (; at(at_) >= '0' && at(at_) <= '9' && value <= std::int64_t{1} << 32; ++at_)
      value = 10 * value + static_cast<std::int64_t>(points_[at_] - '0');
    if (negative) value = -value;
    if (at_ == first_digit || !(is_space(at(at_)) || at(at_) == ']'))
      fail(at_, "an integer label, \"...\" or ']' is expected");
    if (value <= kEllipsis || value > std::numeric_limits<Label>::max())
      fail(start, "a label lies between -2147483647 and 2147483647");
    return static_cast<Label>(value);
  }

  std::u32string points_;
  TermForm form_;
  std::size_t at_ = 0;
  std::vector<OpenGroup> open_;  // the first is the whole left side
  Expression expression_;
};

}  // namespace

Expression read_expression(std::string_view text, TermForm form) {
  DecodedText decoded = decode_utf8(text);
  Reader reader(std::move(decoded.points), form);
  if (decoded.broken_at) reader.fail(*decoded.broken_at, "the expression is not valid UTF-8");
  return reader.read();
}

Expression parse(std::string_view text) {
  return with_typed_memory_errors(
      [&]() -> Expression { return read_expression(text, TermForm::letters); });
}

}  // namespace einjit
