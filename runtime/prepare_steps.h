// Steps of a plan → steps that run: the planner's backend, or the first of its fallbacks that can.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>
#include <vector>

#include "runtime/backend.h"

namespace einjit {

struct PreparedSteps {
  std::vector<std::unique_ptr<PreparedStep>> steps;  // one a step of the plan
  bool ignores_old_content = true;                   // of the destination: it may be uninitialized
};

/// A backend that does not ignore old content is passed over where a step has fallbacks; forced, it
/// may write an initialized destination only. Throws unsupported or backend_failure naming the
/// step, cancelled between steps.
PreparedSteps prepare_steps(const Plan& plan,
                            const std::function<Backend&(std::string_view)>& backend_named,
                            const std::stop_token& stop);

}  // namespace einjit
