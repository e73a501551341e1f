// Binds an expression to shapes: Expression + shapes ─resolve→ Contraction.
//
// Ellipses become labels "…0", "…1", … aligned at the right; an absent output becomes the labels
// that appear once, ellipsis axes first; every label gets its one extent. Labels are numbered by
// first appearance, inputs in order and then the output, so renaming them changes nothing but
// `names`. Checks stand in the order of the header; each names label, extents, operands and axes.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "einjit/error.h"
#include "einjit/expression.h"

namespace einjit {
namespace {

constexpr std::int64_t kWidestElementBytes = 16;  // c128

std::string quoted_term(const std::vector<Label>& term) {
  const bool integers = std::any_of(term.begin(), term.end(), [](Label l) {
    const std::string text = label_text(l);
    return text[0] == '-' || (text[0] >= '0' && text[0] <= '9');
  });
  std::string text;
  for (const Label label : term) {
    if (integers && !text.empty()) text += ' ';
    text += label_text(label);
  }
  return integers ? "[" + text + "]" : '"' + text + '"';
}

bool has_ellipsis(const std::vector<Label>& term) {
  return std::find(term.begin(), term.end(), kEllipsis) != term.end();
}

std::string counted(std::size_t n, const std::string& noun, const std::string& nouns) {
  return std::to_string(n) + " " + (n == 1 ? noun : nouns);
}

class Resolver {
 public:
  Resolver(const Expression& expression, std::span<const std::span<const std::int64_t>> shapes,
           std::span<const LabelExtent> sizes)
      : expression_(expression), shapes_(shapes), sizes_(sizes) {}

  Contraction resolve() {
    check_operand_count();
    count_ellipsis_axes();
    check_ranks();
    number_inputs();
    number_output();
    check_repeats();
    unify_extents();
    apply_sizes();
    check_output_labels();
    check_values();
    check_destination_size();
    result_.nesting = expression_.nesting;
    return std::move(result_);
  }

 private:
  struct Holder {
    std::size_t operand = 0, axis = 0;
  };

  [[noreturn]] static void fail(ErrorCode code, const std::string& sentence) {
    throw Error(code, sentence);
  }
  std::string operand_text(std::size_t i) const {
    return "operand " + std::to_string(i) + " (" + quoted_term(expression_.inputs[i]) + ")";
  }
  static std::size_t at(LabelId id) { return static_cast<std::size_t>(id); }

  void check_operand_count() const {
    const std::size_t terms = expression_.inputs.size();
    if (terms != shapes_.size())
      fail(ErrorCode::operand_count_mismatch,
           "the expression has " + counted(terms, "term", "terms") + " but " +
               counted(shapes_.size(), "operand was given", "operands were given") +
               ": one operand a term");
  }

  /// Of operands whose rank leaves room for the labels they name; the others fail check_ranks.
  void count_ellipsis_axes() {
    const bool output_has = !expression_.output || has_ellipsis(*expression_.output);
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const auto& term = expression_.inputs[i];
      if (!has_ellipsis(term) || shapes_[i].size() + 1 <= term.size()) continue;
      const std::size_t axes = shapes_[i].size() + 1 - term.size();
      if (!output_has)
        fail(ErrorCode::invalid_expression,
             "the ellipsis of " + operand_text(i) + " stands for " + counted(axes, "axis", "axes") +
                 ", but the output " + quoted_term(*expression_.output) +
                 " has no \"...\": add it there, or name the axes to be summed");
      ellipsis_axes_ = std::max(ellipsis_axes_, axes);
    }
  }

  void check_ranks() const {
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const auto& term = expression_.inputs[i];
      const bool ellipsis = has_ellipsis(term);
      const std::size_t named = term.size() - (ellipsis ? 1 : 0);
      if (ellipsis ? named <= shapes_[i].size() : named == shapes_[i].size()) continue;
      fail(ErrorCode::rank_mismatch, operand_text(i) + " names " + counted(named, "axis", "axes") +
                                         ", but the operand has " +
                                         counted(shapes_[i].size(), "axis", "axes") +
                                         (ellipsis ? ": too few for the named ones" : ""));
    }
  }

  LabelId add_label(std::string name, Label label) {
    result_.names.push_back(std::move(name));
    labels_.push_back(label);
    return static_cast<LabelId>(labels_.size() - 1);
  }
  LabelId id_of(Label label) {
    const auto [it, fresh] = ids_.try_emplace(label, 0);
    if (fresh) it->second = add_label(label_text(label), label);
    return it->second;
  }
  LabelId id_of_ellipsis_axis(std::size_t k) {
    if (ellipsis_ids_[k] < 0) ellipsis_ids_[k] = add_label("…" + std::to_string(k), kEllipsis);
    return ellipsis_ids_[k];
  }
  /// Appends the term with its ellipsis replaced by the last `axes` of the ellipsis labels.
  void expand(const std::vector<Label>& term, std::size_t axes, std::vector<LabelId>& out) {
    for (const Label label : term) {
      if (label != kEllipsis) {
        out.push_back(id_of(label));
        continue;
      }
      for (std::size_t k = ellipsis_axes_ - axes; k < ellipsis_axes_; ++k)
        out.push_back(id_of_ellipsis_axis(k));
    }
  }

  void number_inputs() {
    ellipsis_ids_.assign(ellipsis_axes_, -1);
    result_.axes.resize(shapes_.size());
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const auto& term = expression_.inputs[i];
      const std::size_t axes = has_ellipsis(term) ? shapes_[i].size() + 1 - term.size() : 0;
      expand(term, axes, result_.axes[i]);
      result_.shapes.emplace_back(shapes_[i].begin(), shapes_[i].end());
    }
    input_labels_ = labels_.size();
  }

  void number_output() {
    if (expression_.output) {
      expand(*expression_.output, ellipsis_axes_, result_.output);
      return;
    }
    std::vector<std::int64_t> appearances(labels_.size(), 0);
    for (const auto& axes : result_.axes)
      for (const LabelId id : axes) ++appearances[at(id)];
    for (std::size_t k = 0; k < ellipsis_axes_; ++k)
      result_.output.push_back(id_of_ellipsis_axis(k));
    for (std::size_t id = 0; id < labels_.size(); ++id)
      if (appearances[id] == 1 && labels_[id] != kEllipsis)
        result_.output.push_back(static_cast<LabelId>(id));
    std::sort(result_.output.begin() + static_cast<std::ptrdiff_t>(ellipsis_axes_),
              result_.output.end(),
              [&](LabelId a, LabelId b) { return labels_[at(a)] < labels_[at(b)]; });
  }

  [[noreturn]] void fail_extents(LabelId id, Holder a, Holder b) const {
    const auto axis_text = [&](Holder h) {
      return "extent " + std::to_string(result_.shapes[h.operand][h.axis]) + " on axis " +
             std::to_string(h.axis) + " of " + operand_text(h.operand);
    };
    fail(ErrorCode::extent_mismatch,
         "label " + result_.names[at(id)] + " has " + axis_text(a) + " but " + axis_text(b) +
             (a.operand == b.operand ? ": axes of one operand under one label must be equal"
                                     : ": they must be equal, or one of them 1"));
  }

  void check_repeats() const {
    std::vector<Holder> first(labels_.size());
    std::vector<std::size_t> seen_in(labels_.size(), shapes_.size());
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      for (std::size_t axis = 0; axis < shapes_[i].size(); ++axis) {
        const LabelId id = result_.axes[i][axis];
        if (seen_in[at(id)] != i) {
          seen_in[at(id)] = i;
          first[at(id)] = {i, axis};
        } else if (shapes_[i][first[at(id)].axis] != shapes_[i][axis]) {
          fail_extents(id, first[at(id)], {i, axis});
        }
      }
    }
  }

  void unify_extents() {
    result_.extents.assign(labels_.size(), 1);
    std::vector<Holder> holder(labels_.size());
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      for (std::size_t axis = 0; axis < shapes_[i].size(); ++axis) {
        const LabelId id = result_.axes[i][axis];
        const std::int64_t extent = shapes_[i][axis];
        std::int64_t& known = result_.extents[at(id)];
        if (extent == 1 || extent == known) continue;
        if (known != 1) fail_extents(id, holder[at(id)], {i, axis});
        known = extent;
        holder[at(id)] = {i, axis};
      }
    }
  }

  void apply_sizes() {
    given_.assign(labels_.size(), false);
    for (const LabelExtent& size : sizes_) {
      const auto it = ids_.find(size.label);
      if (it == ids_.end()) continue;  // refused by check_values, after what comes before it
      const std::size_t id = at(it->second);
      std::int64_t& known = result_.extents[id];
      const bool held = id < input_labels_;
      if ((held || given_[id]) && known != size.extent)
        fail(ErrorCode::extent_mismatch,
             "label " + result_.names[id] + " is given extent " + std::to_string(size.extent) +
                 " by name, but has extent " + std::to_string(known) +
                 (held ? " in the operands: drop it from the sizes or correct it"
                       : " earlier in the same sizes"));
      known = size.extent;
      given_[id] = true;
    }
  }

  void check_output_labels() const {
    for (std::size_t id = input_labels_; id < labels_.size(); ++id)
      if (!given_[id])
        fail(ErrorCode::unknown_output_label, "output label " + result_.names[id] +
                                                  " is in no operand: give its extent by name, " +
                                                  "or remove it from the output");
  }

  void check_values() const {
    for (const LabelExtent& size : sizes_) {
      if (!ids_.contains(size.label))
        fail(ErrorCode::invalid_argument, "an extent is given for label " + label_text(size.label) +
                                              ", which occurs nowhere in the expression");
      if (size.extent < 0)
        fail(ErrorCode::invalid_argument, "label " + label_text(size.label) +
                                              " is given the negative extent " +
                                              std::to_string(size.extent));
    }
    for (std::size_t i = 0; i < shapes_.size(); ++i)
      for (std::size_t axis = 0; axis < shapes_[i].size(); ++axis)
        if (shapes_[i][axis] < 0)
          fail(ErrorCode::invalid_argument, "axis " + std::to_string(axis) + " of " +
                                                operand_text(i) + " has the negative extent " +
                                                std::to_string(shapes_[i][axis]));
  }

  void check_destination_size() const {
    const std::vector<std::int64_t> shape = result_.output_shape();
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
    constexpr std::int64_t kMost = std::numeric_limits<std::ptrdiff_t>::max() / kWidestElementBytes;
    std::int64_t elements = 1;
    std::string product;
    for (const std::int64_t extent : shape) {
      product += (product.empty() ? "" : " · ") + std::to_string(extent);
      if (extent > kMost / elements)
        fail(ErrorCode::size_overflow, "the result has too many elements: " + product +
                                           (product.size() < 40 ? "" : " …") + " exceeds " +
                                           std::to_string(kMost));
      elements *= extent;
    }
  }

  const Expression& expression_;
  std::span<const std::span<const std::int64_t>> shapes_;
  std::span<const LabelExtent> sizes_;
  Contraction result_;
  std::unordered_map<Label, LabelId> ids_;
  std::vector<Label> labels_;  // per id; kEllipsis for ellipsis axes
  std::vector<LabelId> ellipsis_ids_;
  std::vector<bool> given_;
  std::size_t ellipsis_axes_ = 0;
  std::size_t input_labels_ = 0;  // ids below are held by operands
};

}  // namespace

Contraction resolve(const Expression& expression,
                    std::span<const std::span<const std::int64_t>> shapes,
                    std::span<const LabelExtent> sizes) {
  return with_typed_memory_errors(
      [&]() -> Contraction { return Resolver(expression, shapes, sizes).resolve(); });
}

}  // namespace einjit
