// How the result of a step lies in memory: batch labels outermost, then those of a, then those of
// b, each group in the order in which the operand that carries it walks them. So axes that were one
// in the operand stay one in the result, and a product of matrices has the layout that a gemm
// writes.
#include "planner/intermediate_layout.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <tuple>

#include "planner/simplify.h"

namespace einjit {
namespace {

constexpr std::size_t kNamesShown = 32;

std::optional<std::int64_t> stride_in(const PlanTensor* tensor, LabelId label) {
  if (tensor == nullptr) return std::nullopt;
  const auto at = std::find(tensor->labels.begin(), tensor->labels.end(), label);
  if (at == tensor->labels.end()) return std::nullopt;
  return tensor->strides[static_cast<std::size_t>(at - tensor->labels.begin())];
}

/// Where a label comes in the order; strides and extents alone decide, never the label's number.
using Rank = std::tuple<int, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

Rank rank_of(LabelId label, const PlanTensor& a, const PlanTensor* b, std::int64_t extent) {
  const auto in_a = stride_in(&a, label), in_b = stride_in(b, label);
  const int group = in_a && in_b ? 0 : in_a ? 1 : 2;
  const std::int64_t first = in_a.value_or(in_b.value_or(0)), second = in_b.value_or(0);
  return {group, -std::abs(first), -std::abs(second), first, second, -extent};
}

}  // namespace

PlanTensor intermediate_tensor(const std::vector<LabelId>& labels, const PlanTensor& a,
                               const PlanTensor* b, DType type,
                               const std::vector<std::int64_t>& extents,
                               std::span<const std::string> names) {
  std::vector<std::pair<Rank, std::size_t>> ranked;
  for (std::size_t i = 0; i < labels.size(); ++i)
    ranked.emplace_back(rank_of(labels[i], a, b, extents[static_cast<std::size_t>(labels[i])]), i);
  std::sort(ranked.begin(), ranked.end());
  PlanTensor tensor;
  tensor.place = Place::intermediate;
  tensor.type = type;
  std::vector<std::int64_t> shape;
  for (const auto& [rank, position] : ranked) {
    tensor.labels.push_back(labels[position]);
    shape.push_back(extents[static_cast<std::size_t>(labels[position])]);
  }
  tensor.bytes = checked_bytes(
      shape, type, [&] { return "the intermediate " + label_names(tensor.labels, names); });
  tensor.strides.assign(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) tensor.strides[i - 1] = tensor.strides[i] * shape[i];
  return tensor;
}

std::string label_names(const std::vector<LabelId>& labels, std::span<const std::string> names) {
  std::string text;
  bool spaced = false;  // numbers do not run together as letters do
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i == kNamesShown) return text + "… (" + std::to_string(labels.size()) + " labels)";
    const LabelId label = labels[i];
    const auto l = static_cast<std::size_t>(label);
    const std::string name = l < names.size() ? names[l] : default_label_name(label);
    const char head = name.empty() ? ' ' : name[0];
    const bool number = (head >= '0' && head <= '9') || head == '-' || head == '#';
    if (!text.empty() && (number || spaced)) text += ' ';
    text += name;
    spaced = number;
  }
  return text;
}

}  // namespace einjit
