// What people read of a plan: a table of its steps, and the same as JSON.
#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>

#include "einjit/error.h"
#include "einjit/plan.h"
#include "planner/intermediate_layout.h"

namespace einjit {
namespace {

constexpr std::size_t kTreeShown = 400;  // characters: a screen's worth

std::string reason_text(FillReason reason) {
  constexpr std::string_view kTexts[] = {"", "off the diagonal", "empty sum", "alpha is zero"};
  return std::string(kTexts[static_cast<std::size_t>(reason)]);
}

double extent_of(const Step& step, AxisGroup g) {
  double n = 1;
  for (const StepAxis& axis : step.geometry[static_cast<std::size_t>(g)])
    n *= static_cast<double>(axis.extent);
  return n;
}

/// A one-operand step that only moves: how its result walks what it reads.
std::string move_form(const Plan& plan, const Step& step) {
  const auto& axes = step.geometry[static_cast<std::size_t>(AxisGroup::left)];
  const PlanTensor& from = plan.tensors[static_cast<std::size_t>(step.a)];
  if (from.place == Place::operand) {
    std::vector<LabelId> labels = plan.contraction.axes[static_cast<std::size_t>(from.operand)];
    std::erase_if(labels, [&](LabelId l) {
      return std::find(from.labels.begin(), from.labels.end(), l) == from.labels.end();
    });
    if (labels.size() > from.labels.size()) return "diagonal";
  }
  const auto broadcasts = [](const StepAxis& axis) { return axis.strides[kA] == 0; };
  if (std::any_of(axes.begin(), axes.end(), broadcasts)) return "broadcast";
  return axes.size() > 1 ? "permute" : "copy";
}

std::string form_of(const Plan& plan, const Step& step) {
  if (step.kind == StepKind::fill) return "fill";
  if (step.kind == StepKind::scale) return "scale";
  const auto has = [&](AxisGroup g) { return !step.geometry[static_cast<std::size_t>(g)].empty(); };
  const bool left = has(AxisGroup::left), right = has(AxisGroup::right);
  if (step.b < 0) return has(AxisGroup::contracted) ? "reduce" : move_form(plan, step);
  if (!has(AxisGroup::contracted)) return left || right ? "outer" : "pointwise";
  if (left && right) return "gemm";
  return left || right ? "gemv" : "dot";
}

/// Axes of one group that do not fuse: the step walks them through tables, which is how it
/// permutes.
bool permutes(const Step& step) {
  return std::any_of(step.geometry.begin(), step.geometry.end(),
                     [](const auto& group) { return group.size() > 1; });
}

std::string step_labels(const Plan& plan, const Step& step, std::span<const std::string> names) {
  const auto of = [&](std::int32_t t) {
    return label_names(plan.tensors[static_cast<std::size_t>(t)].labels, names);
  };
  if (step.kind != StepKind::contract) return "→" + of(step.c);
  return of(step.a) + (step.b < 0 ? "" : "," + of(step.b)) + "→" + of(step.c);
}

std::string rounded(double n) {  // three digits
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, n, std::chars_format::general, 3).ptr};
}
std::string count(double n) {
  return n < 1e6 ? std::to_string(static_cast<std::int64_t>(n)) : rounded(n);
}
std::string seconds(double s) {
  if (s >= 1) return rounded(s) + " s";
  return s >= 1e-3 ? rounded(s * 1e3) + " ms" : rounded(s * 1e6) + " µs";
}

/// Characters that a terminal shows, not bytes.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

constexpr std::string_view kColumns[] = {"step", "labels",  "form",  "batch", "m",         "n",
                                         "k",    "backend", "madds", "bytes", "predicted", "notes"};
constexpr bool is_words(std::size_t column) {  // set to the left; numbers to the right
  return column == 1 || column == 2 || column == 7 || column == 11;
}
using Row = std::array<std::string, std::size(kColumns)>;

std::string table(const std::vector<Row>& rows) {
  std::array<std::size_t, std::size(kColumns)> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - width(row[i]), ' ');
      line += (i ? "  " : "") + (is_words(i) ? row[i] + pad : pad + row[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

Row row_of(const Plan& plan, std::size_t number, std::span<const std::string> names) {
  const Step& s = plan.steps[number];
  const auto extent = [&](AxisGroup g) {
    return s.kind == StepKind::contract ? count(extent_of(s, g)) : "-";
  };
  return {std::to_string(number),
          step_labels(plan, s, names),
          form_of(plan, s),
          extent(AxisGroup::batch),
          extent(AxisGroup::left),
          extent(AxisGroup::right),
          extent(AxisGroup::contracted),
          s.backend,
          count(s.flops),
          count(s.bytes),
          seconds(s.predicted_seconds),
          permutes(s)                    ? "permutes"
          : s.reason != FillReason::none ? reason_text(s.reason)
                                         : ""};
}

}  // namespace

std::string explain(const Plan& plan, std::span<const std::string> names) {
  return with_typed_memory_errors([&]() -> std::string {
    std::string text = std::to_string(plan.contraction.axes.size()) + " operands, result " +
                       std::string(name(plan.result)) + ", " + count(plan.costs.flops) +
                       " multiply-adds, " + seconds(plan.predicted_seconds()) + " predicted, " +
                       count(static_cast<double>(plan.arena_bytes)) + " bytes of intermediates\n";
    const std::string tree = to_text(plan.tree);
    text +=
        "tree  " + (tree.size() <= kTreeShown ? tree : tree.substr(0, kTreeShown) + " …") + "\n";
    std::vector<Row> rows(1);
    std::copy(std::begin(kColumns), std::end(kColumns), rows[0].begin());
    for (std::size_t i = 0; i < plan.steps.size(); ++i) rows.push_back(row_of(plan, i, names));
    return text + table(rows);
  });
}

std::string explain_json(const Plan& plan, std::span<const std::string> names) {
  return with_typed_memory_errors([&]() -> std::string {
    using nlohmann::json;
    json steps = json::array();
    for (const Step& s : plan.steps)
      steps.push_back({{"labels", step_labels(plan, s, names)},
                       {"form", form_of(plan, s)},
                       {"batch", extent_of(s, AxisGroup::batch)},
                       {"m", extent_of(s, AxisGroup::left)},
                       {"n", extent_of(s, AxisGroup::right)},
                       {"k", extent_of(s, AxisGroup::contracted)},
                       {"backend", s.backend},
                       {"fallbacks", s.fallbacks},
                       {"flops", s.flops},
                       {"bytes", s.bytes},
                       {"predicted_seconds", s.predicted_seconds},
                       {"permutes", permutes(s)},
                       {"kernel", s.kind == StepKind::contract ? to_text(s.kernel) : ""}});
    return json{{"operands", plan.contraction.axes.size()},
                {"result", name(plan.result)},
                {"tree", to_text(plan.tree)},
                {"flops", plan.costs.flops},
                {"tc", plan.costs.tc},
                {"sc", plan.costs.sc},
                {"rwc", plan.costs.rwc},
                {"arena_bytes", plan.arena_bytes},
                {"predicted_seconds", plan.predicted_seconds()},
                {"reproducible", plan.reproducible},
                {"steps", steps}}
        .dump(1);
  });
}

}  // namespace einjit
