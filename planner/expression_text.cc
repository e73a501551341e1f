// Expressions as text of either form, and the integer form checked.
//
// Letters where every label is one: "(ij,jk),kl->il". Else bracketed integers: "[300 7],[7
// -1]->[300 -1]". A nesting that parentheses in operand order cannot show (integer form only) is
// written behind a bar, as positions: "ij,jk,kl->il | ((0,2),1)". parse_text(to_text(e)) == e for
// every made or parsed e.
#include <algorithm>
#include <string>
#include <utility>

#include "einjit/error.h"
#include "einjit/expression.h"
#include "planner/expression_reader.h"
#include "planner/letters.h"
#include "planner/nested.h"

namespace einjit {
namespace {

bool has_letter(Label label) {
  return label == kEllipsis || (label >= 0 && is_letter(static_cast<char32_t>(label)));
}

TermForm form_of(const Expression& expression) {
  const auto spelt = [](const std::vector<Label>& term) {
    return std::all_of(term.begin(), term.end(), has_letter);
  };
  const bool letters = std::all_of(expression.inputs.begin(), expression.inputs.end(), spelt) &&
                       (!expression.output || spelt(*expression.output));
  return letters ? TermForm::letters : TermForm::integers;
}

std::string term_text(const std::vector<Label>& term, TermForm form) {
  std::string text = form == TermForm::integers ? "[" : "";
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (form == TermForm::integers && i > 0) text += ' ';
    if (term[i] == kEllipsis)
      text += "...";
    else if (form == TermForm::letters)
      append_utf8(text, static_cast<char32_t>(term[i]));
    else
      text += std::to_string(term[i]);
  }
  return form == TermForm::integers ? text + "]" : text;
}

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ErrorCode::invalid_expression, sentence);
}

void check_term(const std::vector<Label>& term, const std::string& where) {
  if (std::count(term.begin(), term.end(), kEllipsis) > 1)
    refuse(where + " holds kEllipsis more than once; a term has at most one ellipsis");
}

void check_nesting(const Nesting& nesting, std::size_t operands) {
  std::vector<bool> operand_used(operands), group_used(nesting.groups.size());
  const auto use = [](std::vector<bool>& used, std::size_t i, const std::string& what) {
    if (i >= used.size())
      refuse(what + " does not exist: there are " + std::to_string(used.size()));
    if (used[i]) refuse(what + " is an item of two groups, or of one twice");
    used[i] = true;
  };
  for (std::size_t g = 0; g < nesting.groups.size(); ++g) {
    const auto& group = nesting.groups[g];
    const std::string name = "group " + std::to_string(g) + " of the nesting";
    if (group.size() < 2)
      refuse(name + " holds " + std::to_string(group.size()) +
             " items; a group holds at least two");
    for (const std::int32_t item : group) {
      if (item >= 0) {
        use(operand_used, static_cast<std::size_t>(item),
            "operand " + std::to_string(item) + ", an item of " + name + ",");
      } else if (static_cast<std::size_t>(~item) >= g) {
        refuse(name + " holds group " + std::to_string(~item) +
               "; groups stand after the groups they hold");
      } else {
        use(group_used, static_cast<std::size_t>(~item), "group " + std::to_string(~item));
      }
    }
  }
  if (nesting.groups.empty()) return;
  for (std::size_t i = 0; i < operands; ++i)
    if (!operand_used[i]) refuse("operand " + std::to_string(i) + " is in no group of the nesting");
  for (std::size_t g = 0; g + 1 < group_used.size(); ++g)
    if (!group_used[g])
      refuse("group " + std::to_string(g) + " is in no other group, and the last one is " +
             "the whole left side");
}

/// The nesting as every Expression holds it: groups depth-first, nothing for one flat group.
Nesting canonical(Nesting nesting) {
  if (nesting.groups.size() == 1) return {};
  return {renumbered_depth_first(nesting.groups)};
}

}  // namespace

Expression make_expression(std::vector<std::vector<Label>> inputs,
                           std::optional<std::vector<Label>> output, Nesting nesting) {
  return with_typed_memory_errors([&]() -> Expression {
    if (inputs.empty()) refuse("an expression has at least one operand; this one has no terms");
    for (std::size_t i = 0; i < inputs.size(); ++i)
      check_term(inputs[i], "the term of operand " + std::to_string(i));
    if (output) check_term(*output, "the output");
    check_nesting(nesting, inputs.size());
    return {std::move(inputs), std::move(output), canonical(std::move(nesting))};
  });
}

std::string to_text(const Expression& expression) {
  return with_typed_memory_errors([&]() -> std::string {
    const TermForm form = form_of(expression);
    Groups groups = expression.nesting.groups;
    NestedWords words;
    words.outer_parentheses = false;
    for (const auto& term : expression.inputs) words.leaves.push_back(term_text(term, form));

    const std::vector<std::int32_t> order = leaves_in_order(groups);
    const bool shown_apart = !std::is_sorted(order.begin(), order.end());
    if (groups.empty() || shown_apart) {
      groups.assign(1, std::vector<std::int32_t>(expression.inputs.size()));
      for (std::size_t i = 0; i < groups[0].size(); ++i)
        groups[0][i] = static_cast<std::int32_t>(i);
    }
    std::string text = write_nested(groups, words);
    if (expression.output) text += "->" + term_text(*expression.output, form);
    if (shown_apart) {
      NestedWords positions;
      for (std::size_t i = 0; i < expression.inputs.size(); ++i)
        positions.leaves.push_back(std::to_string(i));
      text += " | " + write_nested(expression.nesting.groups, positions);
    }
    return text;
  });
}

Expression parse_text(std::string_view text) {
  return with_typed_memory_errors([&]() -> Expression {
    const std::size_t bar = text.find('|');
    const TermForm form =
        text.find('[') == std::string_view::npos ? TermForm::letters : TermForm::integers;
    Expression expression = read_expression(text.substr(0, bar), form);
    if (bar == std::string_view::npos) return expression;
    if (!expression.nesting.groups.empty())
      refuse("the nesting is given twice: by parentheses and behind '|'");
    Nesting nesting{read_nested(text.substr(bar + 1), ErrorCode::invalid_expression).groups};
    return make_expression(std::move(expression.inputs), std::move(expression.output),
                           std::move(nesting));
  });
}

std::string label_text(Label label) {
  return with_typed_memory_errors([&]() -> std::string {
    if (label == kEllipsis) return "...";
    if (!has_letter(label)) return std::to_string(label);
    std::string text;
    append_utf8(text, static_cast<char32_t>(label));
    return text;
  });
}

}  // namespace einjit
