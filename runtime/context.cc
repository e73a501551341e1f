// Contexts that name a number of threads.
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <string>

#include "einjit/engine.h"
#include "einjit/error.h"

namespace einjit {

ExecContext ExecContext::max_threads(Engine& engine, std::int32_t n) {
  if (n < 1)
    throw Error(ErrorCode::invalid_argument,
                "max_threads(" + std::to_string(n) + "): at least one thread is needed");
  // Capped here, so that TBB has nothing to warn of and a memory limit counts threads that can run.
  const std::size_t allowed =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  return {engine, ThreadPolicy::max_threads,
          static_cast<std::int32_t>(
              std::min(static_cast<std::size_t>(n), std::max<std::size_t>(allowed, 1)))};
}

ExecContext ExecContext::ambient(Engine& engine) {
  return {engine, ThreadPolicy::ambient, tbb::this_task_arena::max_concurrency()};
}

}  // namespace einjit
