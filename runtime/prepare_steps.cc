// Which backend runs each step of a plan.
#include "runtime/prepare_steps.h"

#include <string>

#include "einjit/error.h"
#include "runtime/backends.h"

namespace einjit {
namespace {

using BackendNamed = std::function<Backend&(std::string_view)>;

std::string step_name(const Plan& plan, const Step& step) {
  return "step " + std::to_string(&step - plan.steps.data()) + " (" + to_text(step.kernel) + ")";
}

/// A step that overwrites depends on nothing that its c held before.
bool must_ignore_old_content(const Step& step) { return step.kernel.role() == Role::overwrite; }

class StepPreparation {
 public:
  StepPreparation(const Plan& plan, const Step& step) : plan_(plan), step_(step) {}

  /// Null: it cannot, and why_not() says so.
  std::unique_ptr<PreparedStep> try_backend(Backend& backend, bool forced) {
    const bool promises = backend.capabilities().ignores_old_content;
    const bool into_destination =
        plan_.tensors[static_cast<std::size_t>(step_.c)].place == Place::destination;
    if (!promises && must_ignore_old_content(step_) && !(forced && into_destination)) {
      note(ErrorCode::unsupported, backend.name(), "it may read storage that has no value yet");
      return nullptr;
    }
    try {
      if (auto made = backend.prepare(plan_, step_)) return made;
      note(ErrorCode::unsupported, backend.name(), "the step has no form of it");
    } catch (const Error& e) {
      if (e.code() != ErrorCode::backend_failure && e.code() != ErrorCode::unsupported) throw;
      note(e.code(), backend.name(), e.what());
    }
    return nullptr;
  }

  [[noreturn]] void refuse() const {
    throw Error(code_, "no backend runs " + step_name(plan_, step_) + why_);
  }

 private:
  void note(ErrorCode code, std::string_view backend, std::string_view why) {
    code_ = code;
    why_ += "; " + std::string(backend) + ": " + std::string(why);
  }
  const Plan& plan_;
  const Step& step_;
  ErrorCode code_ = ErrorCode::unsupported;
  std::string why_;
};

}  // namespace

PreparedSteps prepare_steps(const Plan& plan, const BackendNamed& backend_named,
                            const std::stop_token& stop) {
  PreparedSteps prepared;
  for (const Step& step : plan.steps) {
    if (stop.stop_requested())
      throw Error(ErrorCode::cancelled, "preparation was stopped by its stop token");
    if (step.kind != StepKind::contract) {
      prepared.steps.push_back(make_fill_step(plan, step));
      continue;
    }
    StepPreparation preparation(plan, step);
    const bool forced = step.fallbacks.empty();
    Backend* backend = &backend_named(step.backend);
    auto made = preparation.try_backend(*backend, forced);
    for (std::size_t i = 0; i < step.fallbacks.size() && !made; ++i) {
      backend = &backend_named(step.fallbacks[i]);
      made = preparation.try_backend(*backend, false);
    }
    if (!made) preparation.refuse();
    if (must_ignore_old_content(step) && !backend->capabilities().ignores_old_content)
      prepared.ignores_old_content = false;
    prepared.steps.push_back(std::move(made));
  }
  return prepared;
}

}  // namespace einjit
