// The planner's last arrow: key → plan, within the memory limit or refused.
#include <algorithm>
#include <stdexcept>

#include "einjit/error.h"
#include "einjit/plan.h"
#include "planner/plan_builder.h"
#include "planner/word_reader.h"

namespace einjit {
namespace {

void require_memory(const Plan& plan, const PlanOptions& options, std::span<const std::string> names) {
  const double limit = *options.memory_limit_bytes;
  const auto peak = static_cast<double>(plan.peak_bytes(options.threads));
  if (peak <= limit) return;
  const PlanTensor* largest = nullptr;
  for (const PlanTensor& tensor : plan.tensors)
    if (tensor.place == Place::intermediate && (largest == nullptr || tensor.bytes > largest->bytes)) largest = &tensor;
  std::string sentence = "the plan needs " + number_text(peak) + " bytes beside operands and destination, the limit is " +
                         number_text(limit);
  if (largest != nullptr) {
    sentence += "; its largest intermediate ";
    for (const LabelId label : largest->labels) {
      const auto l = static_cast<std::size_t>(label);
      sentence += l < names.size() ? names[l] : default_label_name(label);
    }
    sentence += " has " + std::to_string(largest->bytes);
  }
  throw Error(ErrorCode::memory_limit_exceeded, sentence + "; raise the limit or give another path");
}

void require_known(const PlanKey& key) {
  if (key.operands.size() != key.contraction.axes.size())
    throw std::logic_error("make_plan: " + std::to_string(key.operands.size()) + " layouts for " +
                           std::to_string(key.contraction.axes.size()) + " operands");
}

}  // namespace

Plan make_plan(const PlanKey& key, const Machine& machine, const SearchBudget& budget,
               std::span<const std::string> names) {
  require_known(key);
  const PlanOptions& options = key.options;
  const auto operands = static_cast<std::int32_t>(key.operands.size());
  if (options.path) {
    Plan plan = build_plan(key, machine, tree_from_linear(*options.path, operands), names);
    if (options.memory_limit_bytes) require_memory(plan, options, names);
    return plan;
  }
  Plan plan = build_plan(key, machine, find_tree(key.contraction, options.finder, budget), names);
  if (!options.memory_limit_bytes) return plan;
  // The first choice needs too much: another path finder's order may need less.
  if (options.finder == "auto" && static_cast<double>(plan.peak_bytes(options.threads)) > *options.memory_limit_bytes) {
    const Network network = network_of(key.contraction);
    for (const PathFinder* finder : path_finders()) {
      if (!finder->accepts(network)) continue;
      Plan other = build_plan(key, machine, find_tree(key.contraction, finder->name, budget), names);
      if (other.peak_bytes(options.threads) < plan.peak_bytes(options.threads)) plan = std::move(other);
    }
  }
  require_memory(plan, options, names);
  return plan;
}

}  // namespace einjit
