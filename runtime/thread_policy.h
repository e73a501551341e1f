// A context's thread policy → an arena, its width and the tasks in it (CONTRACTS §5).
//
// Serial asks TBB nothing. Otherwise work runs isolated, in an arena of the Engine's or in the
// caller's, under a task group of its own, so that cancelling the caller's group never drops a
// tile; every task has the caller's MXCSR.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <xmmintrin.h>

#include <atomic>
#include <cstdint>
#include <stop_token>

#include "einjit/engine.h"
#include "runtime/engine_impl.h"

namespace einjit {

/// Threads that a call from here may use; 1: it is a plain loop.
std::int32_t thread_width(const ExecContext& context);

/// The caller's rounding and denormal modes for the length of one task.
class FloatingPointMode {
 public:
  explicit FloatingPointMode(unsigned mode) : before_(_mm_getcsr()) { _mm_setcsr(mode); }
  ~FloatingPointMode() { _mm_setcsr(before_); }
  FloatingPointMode(const FloatingPointMode&) = delete;
  FloatingPointMode& operator=(const FloatingPointMode&) = delete;

 private:
  unsigned before_;
};

/// Runs `body` in the arena of the context. `width` > 1, from thread_width.
template <class Body>
void run_in_arena(const ExecContext& context, std::int32_t width, const Body& body) {
  const unsigned mode = _mm_getcsr();  // an arena enforces the mode that it was made under
  const auto isolated = [&] {
    const FloatingPointMode caller(mode);
    tbb::this_task_arena::isolate(body);
  };
  if (context.policy() == ThreadPolicy::ambient)
    isolated();
  else
    context.engine().impl().arena(width).execute(isolated);
}

/// body(i) for every i < count, a task each, in the arena we are in. False: stopped, some not run.
template <class Body>
[[nodiscard]] bool for_each_tile(std::int64_t count, const std::stop_token& stop,
                                 const Body& body) {
  const unsigned mode = _mm_getcsr();
  std::atomic<bool> stopped{false};
  tbb::task_group_context group(tbb::task_group_context::isolated);
  tbb::parallel_for(
      tbb::blocked_range<std::int64_t>(0, count, 1),
      [&](const tbb::blocked_range<std::int64_t>& range) {
        const FloatingPointMode caller(mode);
        for (std::int64_t i = range.begin(); i < range.end(); ++i) {
          if (stop.stop_requested()) stopped = true;
          if (stopped) return;
          body(i);
        }
      },
      tbb::simple_partitioner{}, group);
  return !stopped;
}

}  // namespace einjit
