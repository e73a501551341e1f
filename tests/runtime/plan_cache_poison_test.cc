// Poison of the plan cache: what happens when an exception passes through its lock.
#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tests/runtime/cache_calls.h"

namespace einjit {
namespace {

struct Bomb {};

/// Throws a Bomb at one point of the cache, once armed, on the thread that armed it.
class Fuse {
 public:
  explicit Fuse(PlanCache& cache) {
    cache.set_hook([this](const char* point) {
      if (armed_ != std::this_thread::get_id() || point_ != point) return;
      armed_ = std::thread::id();
      throw Bomb();
    });
  }
  void arm(const std::string& point) {
    point_ = point;
    armed_ = std::this_thread::get_id();
  }

 private:
  std::string point_;
  std::atomic<std::thread::id> armed_{};
};

void blow(PlanCache& cache, const std::string& point, const PlanCache::Value& value) {
  if (point == "clear") return cache.clear();
  if (point == "statistics") return (void)cache.statistics();
  if (point == "entries") return (void)cache.entries();
  if (point == "set_limits") return cache.set_limits(CacheLimits{});
  if (point == "find") return (void)cache.find(Words{50});
  get(cache, 3, value);
}

int poison_rounds() {
  const char* rounds = std::getenv("EINJIT_POISON_ROUNDS");
  return rounds != nullptr ? std::atoi(rounds) : 5;
}

TEST_CASE("plan cache: poison wakes all, stays, and leaves the gauges at zero") {
  const auto value = some_plan();
  for (int round = 0; round < poison_rounds(); ++round)
    for (const char* point : {"locate", "enter", "entered", "queue", "settle", "settled", "clear",
                              "statistics", "entries", "set_limits", "find"}) {
      CAPTURE(point);
      CacheLimits limits;
      limits.preparations_in_flight = 2;
      PlanCache cache(limits);
      Fuse fuse(cache);
      (void)cache.get({{5}, {50}, {}}, [&] { return value; }, kNever);
      Held producer(cache, 1, value);
      producer.await_start();
      Held waiter(cache, 1, value);
      await_waits(cache, 1);
      std::unique_ptr<Held> second, queued;
      if (std::string_view(point) == "find" || std::string_view(point) == "clear") {
        second = std::make_unique<Held>(cache, 10, value);
        second->await_start();
        queued = std::make_unique<Held>(cache, 11, value);
        while (cache.statistics().queued_keys < 1) std::this_thread::yield();
      }
      fuse.arm(point);
      CHECK_THROWS_AS(blow(cache, point, value), Bomb);
      const CacheHealth health = cache.health();
      CHECK(health.poisoned);
      CHECK(health.lock == "the prepared-plan cache");
      CHECK(health.cause == point);
      CHECK(health.seconds_since >= 0);
      for (const auto& call : std::vector<std::function<void()>>{
               [&] { (void)cache.statistics(); }, [&] { (void)cache.limits(); },
               [&] { cache.clear(); }, [&] { (void)cache.entries(); },
               [&] { cache.set_limits(CacheLimits{}); }, [&] { (void)cache.find(Words{50}); },
               [&] { get(cache, 5, value); }})
        CHECK(refusal(call) == ErrorCode::cache_poisoned);
      while (!waiter.ended || (queued && !queued->ended)) std::this_thread::yield();
      CHECK(waiter.code == ErrorCode::cache_poisoned);
      if (queued) CHECK(queued->code == ErrorCode::cache_poisoned);
      producer.release();
      producer.join();
      CHECK(producer.code == ErrorCode::cache_poisoned);
      if (second) {
        second->release();
        second->join();
      }
      CHECK(cache.health().poisoned);  // finishing the accounts does not lift it
      cache.recover();
      CHECK_FALSE(cache.health().poisoned);
      const CacheStatistics s = cache.statistics();
      CHECK(s.in_flight == 0);
      CHECK(s.queued_keys == 0);
      CHECK(s.entries == 0);
      CHECK(s.retained_bytes == 0);
      CHECK(s.recoveries == 1);
      CHECK(get(cache, 1, value) == value);
    }
}

TEST_CASE("plan cache: a lookup made while unwinding poisons nothing") {
  PlanCache cache(CacheLimits{});
  const auto value = some_plan();
  struct AtUnwinding {
    PlanCache& cache;
    const PlanCache::Value& value;
    ~AtUnwinding() { get(cache, 1, value); }
  };
  try {
    const AtUnwinding during{cache, value};
    throw Bomb();
  } catch (const Bomb&) {
  }
  CHECK_FALSE(cache.health().poisoned);
  CHECK(has(cache, 1));
}

}  // namespace
}  // namespace einjit
