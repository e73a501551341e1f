// What an Engine owns.
//
// Members are declared in the order of need: plans die before the backends and kernels they use.
#pragma once

#include <tbb/task_arena.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "einjit/engine.h"
#include "runtime/backend.h"
#include "runtime/buffer_pool.h"
#include "runtime/kernel_table.h"
#include "runtime/plan_cache.h"

namespace einjit {

class Engine::Impl {
 public:
  explicit Impl(EngineOptions options);
  ~Impl();

  const Machine& machine() const { return machine_; }
  const std::string& machine_text() const { return machine_text_; }  // as it stands in plan keys
  BufferPool& pool() { return pool_; }
  KernelTable& kernels() { return kernels_; }
  PlanCache& plans() { return plans_; }
  /// "reference", "jit" or "blas"; made at the first call.
  Backend& backend(std::string_view name);
  /// An arena of this many threads; made at the first call, found without a lock afterwards.
  tbb::task_arena& arena(std::int32_t threads);

 private:
  static constexpr std::size_t kMostThreads = 256;
  const EngineOptions options_;
  const Machine machine_;
  const std::string machine_text_;
  BufferPool pool_;
  KernelTable kernels_;
  std::mutex backends_mutex_;
  std::array<std::unique_ptr<Backend>, 3> backends_;
  PlanCache plans_;  // after what its plans point into
  std::array<std::atomic<tbb::task_arena*>, kMostThreads + 1> arenas_{};
};

/// The row of the table of machines that this CPU and these options reach. Measures nothing.
Machine machine_from_table(const EngineOptions& options);

}  // namespace einjit
