// Lookups in a plan cache as its tests make them: keys are numbers, preparations can be held.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "runtime/plan_cache.h"
#include "runtime/prepared_plan_impl.h"

namespace einjit {

using Words = PlanCache::Words;
inline const std::stop_token kNever;

inline PlanCache::Value some_plan() {
  static Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  EinsumOptions options;
  options.backend = "reference";
  const Layout layout = dense_layout(DType::f64, {2});
  return PreparedPlan::Impl::make(context, plan(context, "i->", {&layout, 1}, {}, {}, options),
                                  {layout});
}
inline PlanCache::Value get(PlanCache& cache, std::uint64_t n, const PlanCache::Value& value) {
  return cache.get({{n}, {}, {}}, [&] { return value; }, kNever);
}
inline bool has(PlanCache& cache, std::uint64_t n) {
  bool prepared = false;
  (void)cache.get({{n}, {}, {}}, [&] { return prepared = true, some_plan(); }, kNever);
  return !prepared;
}
inline ErrorCode refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.code();
  }
  FAIL("nothing was thrown");
  return {};
}
inline bool adds_up(const CacheStatistics& s) {
  return s.lookups == s.hits + s.misses + s.waits + s.negative_hits + s.refusals;
}
/// Once this many threads wait for what `cache` prepares.
inline void await_waits(PlanCache& cache, std::int64_t count) {
  while (cache.statistics().waits < count) std::this_thread::yield();
}

/// A producer that holds a slot until it is let go.
class Held {
 public:
  Held(PlanCache& cache, std::uint64_t n, PlanCache::Value value)
      : thread_([this, &cache, n, value] {
          try {
            (void)cache.get(
                {{n}, {}, {}},
                [&] {
                  started = true;
                  while (!released_) std::this_thread::yield();
                  return value;
                },
                stop.get_token());
          } catch (const Error& e) {
            code = e.code();
          }
          ended = true;
        }) {}
  void await_start() const {
    while (!started) std::this_thread::yield();
  }
  void release() { released_ = true; }
  void join() { thread_.join(); }
  std::stop_source stop;
  std::atomic<bool> started = false, ended = false;
  std::atomic<ErrorCode> code{};

 private:
  std::atomic<bool> released_ = false;
  std::jthread thread_;
};

}  // namespace einjit
