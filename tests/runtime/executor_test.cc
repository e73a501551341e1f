// The executor: order, addresses, scalars, receipts, and stops.
#include "runtime/executor.h"

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>

#include "einjit/error.h"
#include "tests/runtime/made_steps.h"

namespace einjit {
namespace {

using testing::chain_plan;
using testing::fake_steps;

constexpr double kLarge = 1e6, kSmall = 10;  // flops, of a step that is and is not worth a thread

struct Fixture {
  Engine engine = Engine::make();
  ExecContext context = ExecContext::serial(engine);
  double in = 0, out = 0;
  std::array<std::byte, 4096> arena{};
  Operand operand{View<double>(&in, {})};
  Executor::Buffers buffers(bool initialized = false) {
    Executor::Buffers b{{&operand, 1}, reinterpret_cast<std::byte*>(&out), {}, arena.data()};
    const Destination d(b.destination, DType::f64, {}, {}, {}, initialized);
    b.before = WriteReceipt::of(d);
    return b;
  }
};

TEST_CASE("executor: steps run in order, each from where the last one wrote") {
  Fixture f;
  std::vector<StepPointers> seen;
  const Executor executor(chain_plan(3, kSmall),
                          fake_steps(3, 2, [&](const StepPointers& p, std::int64_t tile) {
                            if (tile == 0) seen.push_back(p);
                          }));
  const auto written = executor.run(f.context, f.buffers(), {});
  CHECK(written.destination.buffer() == reinterpret_cast<std::byte*>(&f.out));
  CHECK(written.arena.buffer() == f.arena.data());
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].a == reinterpret_cast<std::byte*>(&f.in));
  CHECK(seen[0].b == nullptr);
  CHECK(seen[0].c == f.arena.data());
  CHECK(seen[1].a == f.arena.data());
  CHECK(seen[1].c == f.arena.data() + 128);
  CHECK(seen[2].a == f.arena.data() + 128);
  CHECK(seen[2].c == reinterpret_cast<std::byte*>(&f.out));
}

TEST_CASE("executor: the call's scalars reach the steps of their class, 1 and 0 the others") {
  Fixture f;
  std::vector<StepPointers> seen;
  Plan plan = chain_plan(2, kSmall);
  plan.steps[1].kernel.alpha = AlphaClass::general;
  plan.steps[1].kernel.beta = BetaClass::general;
  const Executor executor(
      plan, fake_steps(2, 1, [&](const StepPointers& p, std::int64_t) { seen.push_back(p); }));
  executor.run(f.context, f.buffers(true), {.alpha = {2, 3}, .beta = {4, 5}});
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].alpha == std::array<double, 2>{1, 0});
  CHECK(seen[0].beta == std::array<double, 2>{0, 0});
  CHECK(seen[1].alpha == std::array<double, 2>{2, 3});
  CHECK(seen[1].beta == std::array<double, 2>{4, 5});
}

TEST_CASE("executor: what adds demands a receipt") {
  Fixture f;
  int runs = 0;
  const auto count = [&](const StepPointers&, std::int64_t) { ++runs; };
  Plan adds = chain_plan(1, kSmall);
  adds.steps[0].kernel.beta = BetaClass::one;
  const Executor executor(adds, fake_steps(1, 1, count));
  CHECK_THROWS_AS(executor.run(f.context, f.buffers(false), {}), std::logic_error);
  CHECK(runs == 0);
  executor.run(f.context, f.buffers(true), {});
  CHECK(runs == 1);

  Plan filled = adds;  // a fill gives the receipt that the next step demands
  Step fill;
  fill.kind = StepKind::fill;
  fill.reason = FillReason::off_diagonal;
  fill.c = 1;
  filled.steps[0].wave = 1;
  filled.steps.insert(filled.steps.begin(), fill);
  const Executor after_fill(filled, fake_steps(2, 1, count));
  after_fill.run(f.context, f.buffers(false), {});
  CHECK(runs == 3);

  Plan wrong = chain_plan(2, kSmall);
  wrong.steps[0].kernel.beta = BetaClass::one;
  CHECK_THROWS_WITH_AS(Executor(wrong, fake_steps(2, 1, count)), doctest::Contains("step 0"),
                       std::logic_error);
}

TEST_CASE("executor: a scale takes the call's beta, and demands a receipt") {
  Fixture f;
  Plan plan;
  plan.tensors.resize(1);
  plan.tensors[0].place = Place::destination;
  Step scale;
  scale.kind = StepKind::scale;
  scale.c = 0;
  plan.steps.push_back(scale);
  StepPointers seen;
  const Executor executor(plan,
                          fake_steps(1, 1, [&](const StepPointers& p, std::int64_t) { seen = p; }));
  CHECK_THROWS_AS(executor.run(f.context, f.buffers(false), {}), std::logic_error);
  executor.run(f.context, f.buffers(true), {.beta = {0.5, 0}});
  CHECK(seen.beta == std::array<double, 2>{0.5, 0});
}

TEST_CASE("executor: every tile runs once, and waves wait for one another, at any width") {
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 8);
  Fixture f;
  for (const bool one_wave : {false, true}) {
    const Plan plan = chain_plan(4, kLarge, one_wave);
    std::mutex mutex;
    std::multiset<std::pair<const std::byte*, std::int64_t>> seen;
    std::vector<const std::byte*> order;
    const Executor executor(plan, fake_steps(4, 16, [&](const StepPointers& p, std::int64_t tile) {
                              const std::lock_guard lock(mutex);
                              seen.insert({p.c, tile});
                              order.push_back(p.c);
                            }));
    for (const std::int32_t n : {1, 2, 3, 8}) {
      seen.clear();
      order.clear();
      executor.run(ExecContext::max_threads(f.engine, n), f.buffers(), {});
      CHECK(seen.size() == 64);
      CHECK(std::set(seen.begin(), seen.end()).size() == 64);
      if (one_wave) continue;
      for (std::size_t i = 0; i < order.size(); ++i) CHECK(order[i] == order[i / 16 * 16]);
    }
  }
}

TEST_CASE("executor: a stop request ends a run between tiles, serial and parallel") {
  Fixture f;
  std::stop_source source;
  std::atomic<int> runs = 0;
  const Executor executor(chain_plan(3, kLarge),
                          fake_steps(3, 50, [&](const StepPointers&, std::int64_t) {
                            if (++runs == 60) source.request_stop();
                          }));
  for (const std::int32_t n : {1, 2}) {
    source = {};
    runs = 0;
    const ExecContext context =
        (n == 1 ? f.context : ExecContext::max_threads(f.engine, n)).with_stop(source.get_token());
    try {
      executor.run(context, f.buffers(), {});
      FAIL("it ran to its end");
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::cancelled);
    }
    CHECK(runs >= 60);
    CHECK(runs <= 60 + n);
    source = {};
    executor.run(context.with_stop(source.get_token()), f.buffers(), {});  // still usable
  }
}

}  // namespace
}  // namespace einjit
