// The Engine: an owner of caches, pool and backends.
#include "einjit/engine.h"

#include <algorithm>
#include <stdexcept>

#include "einjit/error.h"
#include "runtime/backends.h"
#include "runtime/engine_impl.h"
#include "runtime/jit_backend.h"
#include "runtime/out_of_memory.h"

namespace einjit {

Engine::Impl::Impl(EngineOptions options)
    : options_(std::move(options)),
      machine_(machine_from_table(options_)),
      machine_text_(to_text(machine_)),
      pool_(options_.pool_retained_bytes),
      kernels_(jit::target_named(machine_.target_cpu)),
      plans_(options_.cache_entries) {}

Engine::Impl::~Impl() {
  for (auto& arena : arenas_) delete arena.load();
}

Backend& Engine::Impl::backend(std::string_view name) {
  const std::lock_guard lock(backends_mutex_);
  constexpr std::string_view kNames[] = {"reference", "jit", "blas"};
  const auto at = static_cast<std::size_t>(std::find(std::begin(kNames), std::end(kNames), name) -
                                           std::begin(kNames));
  if (at == backends_.size())
    throw std::logic_error("a plan names the backend '" + std::string(name) + "'");
  if (!backends_[at]) {
    if (name == "reference") backends_[at] = make_reference_backend();
    if (name == "jit") backends_[at] = make_jit_backend(kernels_);
    if (name == "blas") backends_[at] = make_blas_backend(options_.blas_path);
  }
  return *backends_[at];
}

tbb::task_arena& Engine::Impl::arena(std::int32_t threads) {
  auto& slot = arenas_[std::min(static_cast<std::size_t>(threads), kMostThreads)];
  if (tbb::task_arena* known = slot.load(std::memory_order_acquire)) return *known;
  auto made = std::make_unique<tbb::task_arena>(threads);
  tbb::task_arena* expected = nullptr;
  if (slot.compare_exchange_strong(expected, made.get())) return *made.release();
  return *expected;
}

Engine Engine::make(EngineOptions options) {
  return with_typed_memory_errors(
      [&] { return Engine(std::make_unique<Impl>(std::move(options))); });
}
Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

const Machine& Engine::machine() const { return impl_->machine(); }

EngineStatistics Engine::statistics() const {
  return with_typed_memory_errors([&]() -> EngineStatistics {
    const auto plans = impl_->plans().statistics();
    const KernelStatistics kernels = impl_->kernels().statistics();
    const PoolStatistics pool = impl_->pool().statistics();
    return {plans.misses,  plans.hits,         plans.entries,           kernels.compiled,
            kernels.held,  kernels.code_bytes, kernels.compile_seconds, pool.retained_bytes,
            pool.in_flight};
  });
}

void Engine::clear() {
  with_typed_memory_errors([&] {
    impl_->plans().clear();
    impl_->kernels().drop_unused();
    impl_->pool().clear();
  });
}

}  // namespace einjit
