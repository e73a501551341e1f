// An einsum expression: labels of each operand, labels of the output, and the order that
// parentheses fix.
//
// "ij,jk->ik" ─parse→ Expression ─resolve (shapes)→ Contraction. Both are values without pointers.
// The integer form is the inner form; strings are a front end to it (a label is then a code point).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace einjit {

/// A subscript: any 32-bit integer but kEllipsis; in strings the code point.
using Label = std::int32_t;
inline constexpr Label kEllipsis = std::numeric_limits<Label>::min();

/// The order that parentheses fix. A group is a list of at least two items; an item ≥ 0 is an
/// operand's position, an item < 0 is the group ~item. Groups stand after the groups they hold; the
/// last one is the whole left side. Empty: nothing is fixed.
struct Nesting {
  std::vector<std::vector<std::int32_t>> groups;
  bool operator==(const Nesting&) const = default;
};

struct Expression {
  std::vector<std::vector<Label>> inputs;    // may hold kEllipsis once each
  std::optional<std::vector<Label>> output;  // absent: implicit order
  Nesting nesting;
  bool operator==(const Expression&) const = default;
};

/// Reads the string form. Throws invalid_expression with a caret under the offending character.
Expression parse(std::string_view text);

/// The integer form, checked (kEllipsis at most once a term, nesting well formed):
/// invalid_expression.
Expression make_expression(std::vector<std::vector<Label>> inputs,
                           std::optional<std::vector<Label>> output, Nesting nesting = {});

/// Prints any expression; `parse_text` reads it back. Where every label is a legal letter this is
/// the string form; else terms are bracketed integers: "[300 7],[7 -1]->[300 -1]", the ellipsis
/// "...".
std::string to_text(const Expression& expression);
Expression parse_text(std::string_view text);

/// A label as users see it: its letter, or its number.
std::string label_text(Label label);

/// Extent given by name for labels that no operand holds (and checks for those that operands hold).
struct LabelExtent {
  Label label = 0;
  std::int64_t extent = 0;
  bool operator==(const LabelExtent&) const = default;
};

/// A dense number of a label inside one Contraction.
using LabelId = std::int32_t;

/// An expression bound to shapes: ellipses expanded, output order fixed, broadcast extents known.
/// Labels are numbered 0… by first appearance. An operand axis of extent 1 under a larger label
/// broadcasts. Repeats inside an operand are diagonals, inside the output diagonal writes.
struct Contraction {
  std::vector<std::vector<LabelId>> axes;         // per operand, one label an axis
  std::vector<std::vector<std::int64_t>> shapes;  // per operand, one extent an axis
  std::vector<LabelId> output;                    // one label a destination axis
  std::vector<std::int64_t> extents;              // per label, after broadcasting
  std::vector<std::string> names;                 // per label, for sentences and prints
  Nesting nesting;
  bool operator==(const Contraction&) const = default;

  std::vector<std::int64_t> output_shape() const {
    std::vector<std::int64_t> shape;
    shape.reserve(output.size());
    for (LabelId l : output) shape.push_back(extents[static_cast<std::size_t>(l)]);
    return shape;
  }
};

/// Binds an expression to the operands' shapes. `written` is how the user wrote it, for sentences.
/// Throws operand_count_mismatch, rank_mismatch, extent_mismatch, unknown_output_label,
/// invalid_argument (a name in `sizes` that occurs nowhere; a negative extent), size_overflow, in
/// the order listed here.
Contraction resolve(const Expression& expression,
                    std::span<const std::span<const std::int64_t>> shapes,
                    std::span<const LabelExtent> sizes = {});

}  // namespace einjit
