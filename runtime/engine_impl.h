// What an Engine owns.
//
// Members are declared in the order of need: plans die before the backends and kernels they use.
#pragma once

#include <tbb/task_arena.h>

#include <array>
#include <atomic>
#include <deque>
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

  const Machine& machine() const { return blas().machine; }
  const std::string& machine_text() const { return blas().machine_text; }  // as in plan keys
  /// Tests the provider, then lets plans made from now on use it.
  void register_blas(const BlasProvider& provider);
  BufferPool& pool() { return pool_; }
  KernelTable& kernels() { return kernels_; }
  PlanCache& plans() { return plans_; }
  /// "reference" or "jit", made at the first call, or the "blas" of now.
  Backend& backend(std::string_view name);
  /// An arena of this many threads; made at the first call, found without a lock afterwards.
  tbb::task_arena& arena(std::int32_t threads);

 private:
  static constexpr std::size_t kMostThreads = 256;
  /// One "blas" backend and the Machine that tells the planner of it. Each has another text, so
  /// that no plan of one is found for another.
  struct Blas {
    Machine machine;
    std::string machine_text;
    std::unique_ptr<Backend> backend;
  };
  const Blas& blas() const { return *blas_.load(std::memory_order_acquire); }
  void add_blas(Machine machine, std::unique_ptr<Backend> backend);

  const EngineOptions options_;
  std::mutex registering_;
  std::deque<Blas> all_blas_;  // addresses stay: calls under way use the one they began with
  std::atomic<const Blas*> blas_{nullptr};  // the last
  BufferPool pool_;
  KernelTable kernels_;
  std::mutex backends_mutex_;
  std::array<std::unique_ptr<Backend>, 2> backends_;
  PlanCache plans_;  // after what its plans point into
  std::array<std::atomic<tbb::task_arena*>, kMostThreads + 1> arenas_{};
};

/// The row of the table of machines that this CPU and these options reach. Measures nothing.
Machine machine_from_table(const EngineOptions& options);
/// The same with a registered BLAS; `name` is what it is called from now on.
Machine machine_with_blas(Machine machine, const EngineOptions& options,
                          const BlasProvider& provider, const std::string& name);

}  // namespace einjit
