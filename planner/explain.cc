// What people read of a plan: a table of its steps, and the same as JSON.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "einjit/plan.h"

namespace einjit {
namespace {

double extent_of(const Step& step, AxisGroup g) {
  double n = 1;
  for (const StepAxis& axis : step.geometry[static_cast<std::size_t>(g)]) n *= static_cast<double>(axis.extent);
  return n;
}

std::string form_of(const Step& step) {
  if (step.kind == StepKind::fill) return "fill";
  if (step.kind == StepKind::scale) return "scale";
  const auto has = [&](AxisGroup g) { return !step.geometry[static_cast<std::size_t>(g)].empty(); };
  const bool left = has(AxisGroup::left), right = has(AxisGroup::right);
  if (step.b < 0) {
    if (has(AxisGroup::contracted)) return "reduce";
    const auto& axes = step.geometry[static_cast<std::size_t>(AxisGroup::left)];
    if (axes.empty()) return "copy";
    if (axes.size() == 1 && axes[0].strides[kA] == 1 && axes[0].strides[kC] == 1) return "copy";
    return axes.size() == 1 ? "strided copy" : "permute";
  }
  if (!has(AxisGroup::contracted)) return left || right ? "outer" : "pointwise";
  if (left && right) return "gemm";
  return left || right ? "gemv" : "dot";
}

/// Neither operand's walk is contiguous where the result's is: reading permutes.
bool permutes(const Step& step) {
  if (step.kind != StepKind::contract) return false;
  for (const auto& group : step.geometry)
    if (group.size() > 1) return true;
  return false;
}

class Names {
 public:
  explicit Names(std::span<const std::string> names) : names_(names) {}
  std::string of(const PlanTensor& tensor) const {
    std::string text;
    for (const LabelId label : tensor.labels) {
      const auto l = static_cast<std::size_t>(label);
      const std::string& known = l < names_.size() ? names_[l] : default_label_name(label);
      if (known.size() > 1 && known[0] != '\xC3' && !text.empty() && std::isdigit(known.back())) text += ' ';
      text += known;
    }
    return text;
  }
  std::string of(const Plan& plan, const Step& step) const {
    const auto tensor = [&](std::int32_t t) { return of(plan.tensors[static_cast<std::size_t>(t)]); };
    if (step.kind != StepKind::contract) return "→" + tensor(step.c);
    return tensor(step.a) + (step.b < 0 ? "" : "," + tensor(step.b)) + "→" + tensor(step.c);
  }

 private:
  std::span<const std::string> names_;
};

std::string count(double n) {
  char text[32];
  std::snprintf(text, sizeof text, n < 1e6 ? "%.0f" : "%.3g", n);
  return text;
}
std::string seconds(double s) {
  char text[32];
  if (s >= 1)
    std::snprintf(text, sizeof text, "%.3g s", s);
  else if (s >= 1e-3)
    std::snprintf(text, sizeof text, "%.3g ms", s * 1e3);
  else
    std::snprintf(text, sizeof text, "%.3g µs", s * 1e6);
  return text;
}

/// Characters that a terminal shows, not bytes.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - width(row[i]), ' ');
      const bool words = i == 1 || i == 2 || i == 7 || i + 1 == row.size();
      line += (i ? "  " : "") + (words ? row[i] + pad : pad + row[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string explain(const Plan& plan, std::span<const std::string> names) {
  const Names named(names);
  std::string text = std::to_string(plan.contraction.axes.size()) + " operands, result " + std::string(name(plan.result)) +
                     ", " + count(plan.costs.flops) + " multiply-adds, " +
                     seconds(plan.predicted_seconds()) + " predicted, " +
                     count(static_cast<double>(plan.arena_bytes)) + " bytes of intermediates\n";
  const std::string tree = to_text(plan.tree);
  text += "tree  " + (tree.size() <= 400 ? tree : tree.substr(0, 400) + " …") + "\n";
  std::vector<std::vector<std::string>> rows{{"step", "labels", "form", "batch", "m", "n", "k", "backend", "madds", "bytes", "predicted", "notes"}};
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& s = plan.steps[i];
    const auto extent = [&](AxisGroup g) { return s.kind == StepKind::contract ? count(extent_of(s, g)) : std::string("-"); };
    rows.push_back({std::to_string(i), named.of(plan, s), form_of(s), extent(AxisGroup::batch), extent(AxisGroup::left),
                    extent(AxisGroup::right), extent(AxisGroup::contracted), s.backend, count(s.flops), count(s.bytes),
                    seconds(s.predicted_seconds), permutes(s) ? "permutes" : ""});
  }
  return text + table(rows);
}

std::string explain_json(const Plan& plan, std::span<const std::string> names) {
  const Names named(names);
  using nlohmann::json;
  json steps = json::array();
  for (const Step& s : plan.steps)
    steps.push_back({{"labels", named.of(plan, s)},
                     {"form", form_of(s)},
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
}

}  // namespace einjit
