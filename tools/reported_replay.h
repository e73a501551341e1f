// Replays one reported case: the modes that call, and those that plan.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "einjit/einsum.h"
#include "tools/tally.h"

namespace einjit {

/// Outcome, what to say, and a figure to print where the case has a budget.
struct CaseVerdict {
  Verdict verdict;
  std::string figure;
};

/// Modes eval, eval_out, eval_path, eval_limit, plan_or_eval, network and sequence.
CaseVerdict replay_call(const ExecContext& context, const nlohmann::json& reported,
                        const EinsumOptions& options);

/// Mode plan: costs against the case's bounds; time is a figure and never a failure.
CaseVerdict replay_plan(const ExecContext& context, const nlohmann::json& reported,
                        const EinsumOptions& options);

/// Mode perf: the warm time is a figure; the value is compared with `reference`.
CaseVerdict replay_perf(const ExecContext& context, const nlohmann::json& reported,
                        const EinsumOptions& options);

/// Runs `check`, which returns what is wrong or nothing, and turns errors into verdicts by what the
/// case expects.
Verdict verdict_of(const nlohmann::json& reported, const std::function<std::string()>& check);

}  // namespace einjit
