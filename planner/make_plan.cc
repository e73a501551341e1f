// The planner's last arrow: key → plan, within the memory limit or refused.
#include <algorithm>
#include <stdexcept>

#include "einjit/error.h"
#include "einjit/plan.h"
#include "planner/intermediate_layout.h"
#include "planner/kernel_choice.h"
#include "planner/plan_builder.h"
#include "planner/word_reader.h"

namespace einjit {
namespace {

bool fits(const Plan& plan, const PlanOptions& options) {
  return !options.memory_limit_bytes ||
         static_cast<double>(plan.peak_bytes(options.threads)) <= *options.memory_limit_bytes;
}

void require_memory(const Plan& plan, const PlanOptions& options,
                    std::span<const std::string> names) {
  if (fits(plan, options)) return;
  const PlanTensor* largest = nullptr;
  for (const PlanTensor& tensor : plan.tensors)
    if (tensor.place == Place::intermediate &&
        (largest == nullptr || tensor.bytes > largest->bytes))
      largest = &tensor;
  std::string sentence = "the plan needs " + std::to_string(plan.peak_bytes(options.threads)) +
                         " bytes beside operands and destination, the limit is " +
                         number_text(*options.memory_limit_bytes);
  if (largest != nullptr)
    sentence += "; its largest intermediate " + label_names(largest->labels, names) + " has " +
                std::to_string(largest->bytes);
  throw Error(ErrorCode::memory_limit_exceeded,
              sentence + "; raise the limit or give another path");
}

/// The order of another path finder may need less memory than the first choice: the least of them.
Plan least_memory(const PlanKey& key, const SearchBudget& budget,
                  std::span<const std::string> names, Plan best) {
  const Network network = network_of(key.contraction);
  for (const PathFinder* finder : path_finders()) {
    if (!finder->accepts(network)) continue;
    try {
      Plan other = build_plan(key, find_tree(key.contraction, finder->name, budget), names);
      if (other.peak_bytes(key.options.threads) < best.peak_bytes(key.options.threads))
        best = std::move(other);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::size_overflow) throw;  // too large to write down: not the least
    }
  }
  return best;
}

}  // namespace

Plan make_plan(const PlanKey& key, const Machine& machine, const SearchBudget& budget,
               std::span<const std::string> names) {
  return with_typed_memory_errors([&]() -> Plan {
    if (key.operands.size() != key.contraction.axes.size() || key.operands.empty())
      throw std::logic_error("make_plan: " + std::to_string(key.operands.size()) + " layouts for " +
                             std::to_string(key.contraction.axes.size()) + " operands");
    const PlanOptions& options = key.options;
    require_backend(options.backend);
    const auto operands = static_cast<std::int32_t>(key.operands.size());
    Plan plan = build_plan(key,
                           options.path ? tree_from_linear(*options.path, operands)
                                        : find_tree(key.contraction, options.finder, budget),
                           names);
    if (!fits(plan, options) && !options.path && options.finder == "auto")
      plan = least_memory(key, budget, names, std::move(plan));
    require_memory(plan, options, names);
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
      choose_backend(plan.steps[i], i, options, machine);
    return plan;
  });
}

}  // namespace einjit
