// Which backend a step gets: the planner's choice, its fallbacks, and what is refused.
#include "runtime/prepare_steps.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "einjit/error.h"
#include "tests/runtime/made_steps.h"

namespace einjit {
namespace {

/// Takes steps, has no form for them, or cannot be opened.
class FakeBackend final : public Backend {
 public:
  enum class Mood { takes, declines, fails, promises_nothing };
  FakeBackend(std::string name, Mood mood) : name_(std::move(name)), mood_(mood) {}
  std::string_view name() const override { return name_; }
  Capabilities capabilities() const override {
    return {.ignores_old_content = mood_ != Mood::promises_nothing, .keeps_unwritten = false};
  }
  std::unique_ptr<PreparedStep> prepare(const Plan&, const Step&) override {
    ++asked;
    if (mood_ == Mood::fails)
      throw Error(ErrorCode::backend_failure, name_ + ".so cannot be opened");
    if (mood_ == Mood::declines) return nullptr;
    return std::make_unique<testing::FakeStep>(1, [](const auto&, auto) {});
  }
  int asked = 0;

 private:
  std::string name_;
  Mood mood_;
};
using Mood = FakeBackend::Mood;

struct Backends {
  std::map<std::string, FakeBackend, std::less<>> all;
  explicit Backends(const std::vector<Mood>& moods) {
    const char* const names[] = {"first", "second", "third"};
    for (std::size_t i = 0; i < moods.size(); ++i)
      all.emplace(names[i], FakeBackend(names[i], moods[i]));
  }
  PreparedSteps prepare(const Plan& plan, const std::stop_token& stop = {}) {
    return prepare_steps(
        plan, [&](std::string_view name) -> Backend& { return all.find(name)->second; }, stop);
  }
};

Plan plan_with(std::vector<std::string> backends, std::size_t steps = 1) {
  Plan plan = testing::chain_plan(steps, 1);
  for (Step& step : plan.steps) {
    step.backend = backends.front();
    step.fallbacks.assign(backends.begin() + 1, backends.end());
  }
  return plan;
}

TEST_CASE("prepare steps: fallbacks in order, only as far as needed") {
  Backends b({Mood::fails, Mood::declines, Mood::takes});
  const PreparedSteps made = b.prepare(plan_with({"first", "second", "third"}));
  CHECK(made.steps.size() == 1);
  CHECK(made.ignores_old_content);
  Backends good({Mood::takes, Mood::takes});
  (void)good.prepare(plan_with({"first", "second"}));
  CHECK(good.all.find("second")->second.asked == 0);
}

TEST_CASE("prepare steps: none left names the step and every reason") {
  Backends b({Mood::declines, Mood::fails});
  try {
    (void)b.prepare(plan_with({"first", "second"}));
    FAIL("prepared");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::backend_failure);
    const std::string sentence = e.what();
    for (const char* part : {"step 0", "first: the step has no form", "second.so cannot be opened"})
      CHECK(sentence.find(part) + 1 != 0);
  }
  Backends declines({Mood::declines});
  try {
    (void)declines.prepare(plan_with({"first"}));
    FAIL("prepared");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::unsupported);
  }
}

TEST_CASE("prepare steps: who may read old content is passed over, or forced on old content only") {
  Backends b({Mood::promises_nothing, Mood::takes});
  CHECK(b.prepare(plan_with({"first", "second"})).ignores_old_content);
  CHECK(b.all.find("first")->second.asked == 0);
  CHECK(b.all.find("second")->second.asked == 1);
  // Forced: the destination may be initialized, so the run decides.
  CHECK_FALSE(b.prepare(plan_with({"first"})).ignores_old_content);
  // An intermediate never is.
  try {
    (void)b.prepare(plan_with({"first"}, 2));
    FAIL("prepared");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::unsupported);
  }
  // What accumulates reads old content by its nature.
  Plan adds = plan_with({"first"});
  adds.steps[0].kernel.beta = BetaClass::one;
  CHECK(b.prepare(adds).ignores_old_content);
}

TEST_CASE("prepare steps: a stop request ends preparation") {
  Backends b({Mood::takes});
  std::stop_source source;
  source.request_stop();
  try {
    (void)b.prepare(plan_with({"first"}), source.get_token());
    FAIL("prepared");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::cancelled);
  }
  CHECK(b.all.find("first")->second.asked == 0);
}

}  // namespace
}  // namespace einjit
