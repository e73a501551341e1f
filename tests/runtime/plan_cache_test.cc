// The prepared-plan cache: what is kept, who prepares, who waits, and what poison does.
#include "runtime/plan_cache.h"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "planner/word_list.h"
#include "runtime/prepared_plan_impl.h"
#include "tests/allocation_count.h"
#include "tests/runtime/cache_calls.h"

namespace einjit {
namespace {

TEST_CASE("plan cache: the least recently used one leaves") {
  CacheLimits limits;
  limits.entries = 3;
  PlanCache cache(limits);
  const auto value = some_plan();
  for (const std::uint64_t n : {1, 2, 3}) CHECK(get(cache, n, value) == value);
  CHECK(get(cache, 1, nullptr) == value);
  const auto fourth = some_plan();
  get(cache, 4, fourth);
  CHECK(cache.statistics().entries == 3);
  CHECK(cache.statistics().evictions == 1);
  for (const std::uint64_t n : {1, 3, 4}) CHECK(has(cache, n));
  CHECK_FALSE(has(cache, 2));
  CHECK(has(cache, 4));
  cache.clear();
  CHECK(cache.statistics().entries == 0);
  CHECK(cache.statistics().retained_bytes == 0);
  CHECK(fourth.use_count() == 1);  // whoever runs a plan keeps it
}

TEST_CASE("plan cache: bytes count too, and set_limits evicts") {
  PlanCache cache(CacheLimits{});
  for (std::uint64_t n = 0; n < 10; ++n) get(cache, n, some_plan());
  const std::int64_t all = cache.statistics().retained_bytes;
  CHECK(all >= static_cast<std::int64_t>(10 * sizeof(PreparedPlan::Impl)));
  CacheLimits limits;
  limits.retained_bytes = all / 2;
  cache.set_limits(limits);
  CHECK(cache.limits() == limits);
  CHECK(cache.statistics().entries == 5);
  CHECK(cache.statistics().retained_bytes <= all / 2);
  CHECK(has(cache, 9));
  CHECK_FALSE(has(cache, 0));
}

TEST_CASE("plan cache: code counts once, however many plans share it") {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  EinsumOptions options;
  options.backend = "jit!";
  const auto bytes_after = [&](std::int64_t extent) {
    const Layout layout = dense_layout(DType::f64, {extent});
    (void)prepare(context, "i->", {&layout, 1}, {}, {}, options);
    return engine.statistics().cache.retained_bytes;
  };
  const std::int64_t first = bytes_after(5000), second = bytes_after(7000);
  const EngineStatistics s = engine.statistics();
  CHECK(s.kernels_held == 1);
  CHECK(s.code_bytes >= 4096);
  CHECK(first > s.code_bytes);
  CHECK(second < first + s.code_bytes);
  engine.clear();
  CHECK(engine.statistics().cache.retained_bytes == 0);
  CHECK(engine.statistics().code_bytes == 0);
}

TEST_CASE("plan cache: one digest for all keys merges nothing") {
  PlanCache cache(CacheLimits{});
  cache.force_collisions();
  std::vector<PlanCache::Value> values;
  for (std::uint64_t n = 0; n < 12; ++n) values.push_back(get(cache, n, some_plan()));
  for (std::uint64_t n = 0; n < 12; ++n) CHECK(get(cache, n, nullptr) == values[n]);
  const Words signature{77};
  (void)cache.get({{3}, signature, {}}, [] { return nullptr; }, kNever);
  CHECK(cache.find(signature) == values[3]);
  CHECK(cache.find(Words{78}) == nullptr);
}

TEST_CASE("plan cache: a limit below one is a bad setting") {
  for (std::int64_t CacheLimits::* limit :
       {&CacheLimits::entries, &CacheLimits::retained_bytes, &CacheLimits::preparations_in_flight,
        &CacheLimits::queued_keys})
    for (const std::int64_t value : {0, -3}) {
      EngineOptions options;
      options.cache.*limit = value;
      CHECK(refusal([&] { (void)Engine::make(options); }) == ErrorCode::invalid_argument);
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
  CHECK(engine.statistics().cache.entries == 3);
  CHECK(engine.statistics().cache.hits == 2);
}

TEST_CASE("plan cache: a transposed operand of the same extents is another key") {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  const double a[] = {1, 2, 3, 4}, b[] = {1, 0, 0, 1};
  double c[4];
  const auto product = [&](Dims strides) {
    einsum_into(context, "ij,jk->ik", MutableView<double>(c, {2, 2}),
                {View<double>(a, {2, 2}, strides), View<double>(b, {2, 2})});
    return c[1];
  };
  CHECK(product({2, 1}) == 2);
  CHECK(product({1, 2}) == 3);
  CHECK(product({2, 1}) == 2);
  CHECK(engine.statistics().cache.entries == 2);
}

TEST_CASE("plan cache: a size given for a label and a memory limit are not taken for one another") {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  const Expression repeat = make_expression({{1}}, std::vector<Label>{1, 0});
  const double a[] = {1, 2};
  const Operand operands[] = {View<double>(a, {2})};
  EinsumOptions options;
  options.backend = "reference";
  options.sizes = {{0, 1}};
  CHECK(einsum(context, repeat, operands, options).size() == 2);
  options.sizes.clear();
  CHECK(refusal([&] { (void)einsum(context.with_memory_limit(0), repeat, operands, options); }) ==
        ErrorCode::unknown_output_label);
}

TEST_CASE("plan cache: eight threads that ask for one key prepare it once") {
  PlanCache cache(CacheLimits{});
  const auto value = some_plan();
  std::atomic<int> prepared = 0, wrong = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      wrong += cache.get(
                   {{1}, {}, {}},
                   [&] {
                     ++prepared;
                     await_waits(cache, 7);
                     return value;
                   },
                   kNever) != value;
    });
  threads.clear();
  CHECK(prepared == 1);
  CHECK(wrong == 0);
  const CacheStatistics s = cache.statistics();
  CHECK(s.misses == 1);
  CHECK(s.waits == 7);
  CHECK(s.in_flight == 0);
  CHECK(s.peak_in_flight == 1);
  CHECK(adds_up(s));
}

TEST_CASE("plan cache: a failure that the key decides is kept and given to all") {
  PlanCache cache(CacheLimits{});
  std::atomic<int> prepared = 0, thrown = 0;
  const auto fail = [&](int waiters) {
    return [&, waiters]() -> PlanCache::Value {
      ++prepared;
      await_waits(cache, waiters);
      throw Error(ErrorCode::memory_limit_exceeded, "too large for i and j");
    };
  };
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      thrown += refusal([&] { (void)cache.get({{1}, {}, {"i", "j"}}, fail(3), kNever); }) ==
                ErrorCode::memory_limit_exceeded;
    });
  threads.clear();
  CHECK(prepared == 1);
  CHECK(thrown == 4);
  CHECK(refusal([&] { (void)cache.get({{1}, {}, {"i", "j"}}, fail(0), kNever); }) ==
        ErrorCode::memory_limit_exceeded);
  CHECK(prepared == 1);
  CHECK(cache.statistics().negative_hits == 1);
  // In other labels the sentence is made anew.
  CHECK_THROWS_AS((void)cache.get({{1}, {}, {"x", "y"}}, fail(0), kNever), Error);
  CHECK(prepared == 2);
  CHECK(cache.entries()[0].state == CacheEntry::State::failed);
  CHECK(cache.entries()[0].reason == "too large for i and j");
}

TEST_CASE("plan cache: a transient failure is its producer's alone; the first waiter goes on") {
  for (const bool out_of_memory : {false, true}) {
    PlanCache cache(CacheLimits{});
    const auto value = some_plan();
    std::atomic<int> prepared = 0, failed = 0, right = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        try {
          right += cache.get(
                       {{1}, {}, {}},
                       [&] {
                         if (prepared++ > 0) return value;
                         await_waits(cache, 3);
                         if (out_of_memory) throw std::bad_alloc();
                         throw Error(ErrorCode::cancelled, "stopped");
                       },
                       kNever) == value;
        } catch (const std::exception&) {
          ++failed;
        }
      });
    threads.clear();
    CHECK(prepared == 2);
    CHECK(failed == 1);
    CHECK(right == 3);
    CHECK(cache.statistics().in_flight == 0);
    CHECK(has(cache, 1));
  }
}

TEST_CASE("plan cache: a preparation that asks for its own key is told") {
  PlanCache cache(CacheLimits{});
  CHECK(refusal([&] {
          (void)cache.get({{1}, {}, {}}, [&] { return get(cache, 1, nullptr); }, kNever);
        }) == ErrorCode::preparation_cycle);
  const auto inner = some_plan();
  const auto found = cache.get({{1}, {}, {}}, [&] { return get(cache, 2, inner); }, kNever);
  CHECK(found == inner);  // another key may be asked for
  CHECK(cache.statistics().in_flight == 0);
  CacheLimits one;
  one.preparations_in_flight = 1;
  cache.clear();
  cache.set_limits(one);
  CHECK(refusal([&] {
          (void)cache.get({{1}, {}, {}}, [&] { return get(cache, 2, inner); }, kNever);
        }) == ErrorCode::preparation_cycle);
  CHECK(cache.statistics().in_flight == 0);
  CHECK(cache.statistics().queued_keys == 0);
}

TEST_CASE("plan cache: past the limit keys wait in order of arrival, or are refused") {
  CacheLimits limits;
  limits.preparations_in_flight = 1;
  limits.queued_keys = 2;
  PlanCache cache(limits);
  const auto value = some_plan();
  Held first(cache, 1, value);
  first.await_start();
  Held second(cache, 2, value);
  while (cache.statistics().queued_keys < 1) std::this_thread::yield();
  Held third(cache, 3, value);
  while (cache.statistics().queued_keys < 2) std::this_thread::yield();
  CHECK(refusal([&] { get(cache, 4, value); }) == ErrorCode::capacity_exceeded);
  first.release();
  second.await_start();
  CHECK_FALSE(third.started);
  third.stop.request_stop();
  while (!third.ended) std::this_thread::yield();
  CHECK(third.code == ErrorCode::cancelled);
  CHECK(cache.statistics().queued_keys == 0);
  second.release();
  second.join();
  CHECK(cache.statistics().peak_in_flight == 1);
  CHECK(cache.statistics().in_flight == 0);
  CHECK(adds_up(cache.statistics()));
  limits.refuse_when_full = true;
  cache.set_limits(limits);
  Held fifth(cache, 5, value);
  fifth.await_start();
  CHECK(refusal([&] { get(cache, 6, value); }) == ErrorCode::capacity_exceeded);
  fifth.release();
}

TEST_CASE("plan cache: a waiter that is stopped leaves; those behind it stay") {
  PlanCache cache(CacheLimits{});
  const auto value = some_plan();
  Held producer(cache, 1, value);
  producer.await_start();
  Held stopped(cache, 1, value), patient(cache, 1, value);
  await_waits(cache, 2);
  stopped.stop.request_stop();
  while (!stopped.ended) std::this_thread::yield();
  CHECK(stopped.code == ErrorCode::cancelled);
  producer.release();
  patient.join();
  CHECK(patient.code == ErrorCode{});
}

TEST_CASE("plan cache: nothing of before clear() is kept after it") {
  PlanCache cache(CacheLimits{});
  const auto value = some_plan();
  Held producer(cache, 1, value);
  producer.await_start();
  Held waiter(cache, 1, value);
  await_waits(cache, 1);
  cache.clear();
  const auto newer = some_plan();
  CHECK(get(cache, 1, newer) == newer);  // it does not wait for the old one
  producer.release();
  waiter.join();
  producer.join();
  CHECK(waiter.code == ErrorCode{});
  CHECK(cache.statistics().in_flight == 0);
  CHECK(cache.statistics().entries == 1);
  CHECK(get(cache, 1, nullptr) == newer);
}

TEST_CASE("plan cache: an entry in quarantine says why, until it is cleared") {
  PlanCache cache(CacheLimits{});
  const auto fail = []() -> PlanCache::Value {
    throw Error(ErrorCode::cache_entry_poisoned, "the kernel gave 3, its check says 4");
  };
  for (int i = 0; i < 2; ++i)
    CHECK(refusal([&] { (void)cache.get({{1}, {}, {}}, fail, kNever); }) ==
          ErrorCode::cache_entry_poisoned);
  CHECK(cache.entries()[0].state == CacheEntry::State::quarantined);
  CHECK(cache.entries()[0].reason == "the kernel gave 3, its check says 4");
  CHECK(cache.statistics().negative_hits == 1);
  CHECK(get(cache, 2, some_plan()) != nullptr);
  cache.clear();
  CHECK(get(cache, 1, some_plan()) != nullptr);
}

TEST_CASE("plan cache: against a model, 100,000 random lookups") {
  CacheLimits limits;
  limits.entries = 7;
  PlanCache cache(limits);
  cache.force_collisions();
  std::mt19937 random(5);
  std::list<std::uint64_t> model;  // most recent first
  std::map<std::uint64_t, PlanCache::Value> values;
  CacheStatistics expected;
  const std::vector<PlanCache::Value> plans{some_plan(), some_plan(), some_plan()};
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t n = random() % 12;
    if (random() % 500 == 0) {
      cache.clear();
      model.clear();
    }
    const auto known = std::find(model.begin(), model.end(), n);
    const bool fails = n % 5 == 4;
    const auto fresh = plans[random() % 3];
    bool prepared = false, thrown = false;
    PlanCache::Value found;
    try {
      found = cache.get(
          {{n}, {}, {}},
          [&] {
            prepared = true;
            if (fails) throw Error(ErrorCode::invalid_path, "no");
            return fresh;
          },
          kNever);
    } catch (const Error&) {
      thrown = true;
    }
    REQUIRE(thrown == fails);
    REQUIRE(prepared == (known == model.end()));
    if (known == model.end()) {
      ++expected.misses;
      values[n] = fresh;
      model.push_front(n);
      if (model.size() > 7) {
        model.pop_back();
        ++expected.evictions;
      }
    } else {
      ++(fails ? expected.negative_hits : expected.hits);
      model.splice(model.begin(), model, known);
    }
    if (!fails) REQUIRE(found == values[n]);
    if (i % 1000 == 0) {
      const CacheStatistics s = cache.statistics();
      REQUIRE(s.hits == expected.hits);
      REQUIRE(s.misses == expected.misses);
      REQUIRE(s.negative_hits == expected.negative_hits);
      REQUIRE(s.evictions == expected.evictions);
      REQUIRE(s.entries == static_cast<std::int64_t>(model.size()));
      REQUIRE(s.preparations == s.misses);
      REQUIRE(adds_up(s));
    }
  }
}

TEST_CASE("plan cache: nothing allocates under the lock") {
  CacheLimits limits;
  limits.entries = 3;
  limits.preparations_in_flight = 1;
  PlanCache cache(limits);
  const auto value = some_plan();
  const AllocationWatch watch([&] { return cache.lock().is_held_by_this_thread(); });
  for (std::uint64_t n = 0; n < 50; ++n) {
    (void)cache.get({{n % 5}, {n + 100}, {"i"}}, [&] { return value; }, kNever);
    (void)cache.find(Words{n + 100});
    try {
      (void)cache.get(
          {{900 + n % 4}, {}, {"i"}},
          []() -> PlanCache::Value { throw Error(ErrorCode::invalid_path, "no"); }, kNever);
    } catch (const Error&) {
    }
    if (n % 10 == 9) (void)cache.entries();
    if (n == 30) cache.clear();
  }
  Held producer(cache, 1000, value);
  producer.await_start();
  Held waiter(cache, 1000, value), queued(cache, 1001, value);
  await_waits(cache, 1);
  waiter.stop.request_stop();
  producer.release();
  queued.release();
  producer.join();
  queued.join();
  CHECK(watch.count() == 0);
}

TEST_CASE("plan cache: a lookup by signature allocates nothing") {
  PlanCache cache(CacheLimits{});
  (void)cache.get({{1}, {5, 6, 7}, {}}, [] { return some_plan(); }, kNever);
  const Words signature{5, 6, 7};
  const AllocationWatch watch([] { return true; });
  for (int i = 0; i < 100; ++i) CHECK(cache.find(signature) != nullptr);
  CHECK(watch.count() == 0);
}

TEST_CASE("plan cache: threads that look up, fail, stop and clear leave the gauges at zero") {
  CacheLimits limits;
  limits.entries = 5;
  limits.preparations_in_flight = 2;
  limits.queued_keys = 3;
  PlanCache cache(limits);
  std::vector<PlanCache::Value> plans;
  for (int n = 0; n < 10; ++n) plans.push_back(some_plan());
  std::atomic<int> wrong = 0;
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t n = random() % 10;
      std::stop_source stop;
      if (random() % 10 == 0) stop.request_stop();
      const unsigned fate = random() % 10;
      try {
        const auto found = cache.get(
            {{n}, {n + 100}, {}},
            [&] {
              if (fate == 0) throw std::bad_alloc();
              if (fate == 1) throw Error(ErrorCode::cancelled, "stopped");
              if (fate == 2) std::this_thread::yield();
              return plans[n];
            },
            stop.get_token());
        wrong += found != plans[n];
        const Words signature{n + 100};
        if (const auto again = cache.find(signature)) wrong += again != plans[n];
      } catch (const Error&) {
      } catch (const std::bad_alloc&) {
      }
      if (random() % 300 == 0) cache.clear();
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back(work, t);
  threads.clear();
  CHECK(wrong == 0);
  const CacheStatistics s = cache.statistics();
  CHECK(s.in_flight == 0);
  CHECK(s.queued_keys == 0);
  CHECK(s.entries <= 5);
  CHECK(s.peak_in_flight <= 2);
  CHECK(adds_up(s));
}

}  // namespace
}  // namespace einjit
