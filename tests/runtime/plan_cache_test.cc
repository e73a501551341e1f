// The table of prepared plans: which leave, what is equal.
#include "runtime/plan_cache.h"

#include <doctest/doctest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "runtime/prepared_plan_impl.h"

namespace einjit {
namespace {

PlanKey key_number(std::int64_t n) {
  PlanKey key;
  key.contraction.extents = {n};
  return key;
}
PlanCache::Value some_plan(const ExecContext& context) {
  Plan plan;
  plan.tensors.emplace_back();
  return PreparedPlan::Impl::make(context, plan, {});
}

TEST_CASE("plan cache: the least recently used one leaves") {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  PlanCache cache(3);
  const auto add = [&](std::int64_t n) {
    const PlanKey key = key_number(n);
    const auto value = some_plan(context);
    CHECK(cache.insert(key, hash_of(key), value) == value);
    return value;
  };
  const auto has = [&](std::int64_t n) {
    const PlanKey key = key_number(n);
    return cache.find(key, hash_of(key)) != nullptr;
  };
  for (const std::int64_t n : {1, 2, 3}) add(n);
  CHECK(has(1));
  const auto fourth = add(4);
  CHECK_FALSE(has(2));
  CHECK(has(1));
  CHECK(has(3));
  CHECK(has(4));
  CHECK(cache.statistics().entries == 3);
  CHECK(cache.statistics().hits == 4);
  CHECK(cache.statistics().misses == 1);
  cache.clear();
  CHECK_FALSE(has(4));
  CHECK(fourth.use_count() == 1);  // whoever runs a plan keeps it
}

TEST_CASE("plan cache: one digest for all keys merges nothing") {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  PlanCache cache(8);
  std::vector<PlanCache::Value> values;
  for (std::int64_t n = 0; n < 12; ++n)
    values.push_back(cache.insert(key_number(n), 5, some_plan(context)));
  for (std::int64_t n = 0; n < 12; ++n)
    CHECK(cache.find(key_number(n), 5) == (n < 4 ? nullptr : values[static_cast<std::size_t>(n)]));
}

TEST_CASE("plan cache: of two values for one key the first stays") {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  PlanCache cache(2);
  const auto first = cache.insert(key_number(1), 1, some_plan(context));
  CHECK(cache.insert(key_number(1), 1, some_plan(context)) == first);
  CHECK(cache.statistics().entries == 1);
}

TEST_CASE("plan cache: no entries is a bad setting") {
  EngineOptions options;
  for (const std::int64_t entries : {0, -3}) {
    options.cache_entries = entries;
    CHECK_THROWS_WITH_AS((void)Engine::make(options), doctest::Contains("cache_entries"), Error);
  }
}

TEST_CASE("plan cache: renamed labels share a plan; strides of axes of extent 1 mean nothing") {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  EinsumOptions options;
  options.backend = "reference";
  const Layout a = dense_layout(DType::f64, {2, 1, 3}), b = dense_layout(DType::f64, {3, 4});
  Layout odd = a;
  odd.strides[1] = 77;
  const Layout same[] = {a, b}, other[] = {odd, b},
               different[] = {a, dense_layout(DType::f32, {3, 4})};
  const auto x = prepare(context, "iuj,jk->ik", same, {}, {}, options);
  const auto y = prepare(context, " pαq , qr -> pr", other, {}, {}, options);
  CHECK(&x.impl() == &y.impl());
  const auto z = prepare(context, "iuj,jk->ik", different, {}, {}, options);
  CHECK(&x.impl() != &z.impl());
  const auto alpha = prepare(context, "iuj,jk->ik", same, {}, {.alpha = {2, 0}}, options);
  CHECK(&x.impl() != &alpha.impl());
  const auto alike = prepare(context, "iuj,jk->ik", same, {}, {.alpha = {3, 0}}, options);
  CHECK(&alpha.impl() == &alike.impl());
  CHECK(engine.statistics().plans_cached == 3);
  CHECK(engine.statistics().plan_hits == 2);
}

TEST_CASE("plan cache: threads that look up, insert and clear see whole entries") {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  PlanCache cache(5);
  std::vector<PlanCache::Value> plans;
  for (int n = 0; n < 10; ++n) plans.push_back(some_plan(context));
  std::atomic<int> wrong = 0;
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 5000; ++i) {
      const auto n = static_cast<std::int64_t>(random() % 10);
      const auto& own = plans[static_cast<std::size_t>(n)];
      const auto found = cache.find(key_number(n), static_cast<std::uint64_t>(n % 3));
      wrong += found != nullptr && found != own;
      if (!found) cache.insert(key_number(n), static_cast<std::uint64_t>(n % 3), own);
      if (i % 500 == 0) cache.clear();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back(work, t);
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(cache.statistics().entries <= 5);
}

}  // namespace
}  // namespace einjit
