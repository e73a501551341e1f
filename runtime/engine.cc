// The Engine: an owner of caches, pool and backends.
#include "einjit/engine.h"

#include <algorithm>
#include <stdexcept>

#include "einjit/error.h"
#include "runtime/backends.h"
#include "runtime/engine_impl.h"
#include "runtime/jit_backend.h"

namespace einjit {

namespace {

EngineOptions checked(EngineOptions options) {
  if (options.blas_integer_bits != 32 && options.blas_integer_bits != 64)
    throw Error(ErrorCode::invalid_argument, "blas_integer_bits is " +
                                                 std::to_string(options.blas_integer_bits) +
                                                 "; it must be 32 or 64");
  return options;
}

}  // namespace

Engine::Impl::Impl(EngineOptions options)
    : options_(checked(std::move(options))),
      pool_(options_.pool_retained_bytes),
      kernels_(jit::target_named(machine_from_table(options_).target_cpu)),
      plans_(options_.cache) {
  add_blas(machine_from_table(options_),
           make_blas_backend(BlasAddress{options_.blas_path, options_.blas_symbol_suffix,
                                         options_.blas_integer_bits}));
}

void Engine::Impl::add_blas(Machine machine, std::unique_ptr<Backend> backend) {
  std::string text = to_text(machine);
  all_blas_.push_back({std::move(machine), std::move(text), std::move(backend)});
  blas_.store(&all_blas_.back(), std::memory_order_release);
}

void Engine::Impl::register_blas(const BlasProvider& provider) {
  auto backend = make_blas_backend(BlasLibrary::of(provider));
  const std::lock_guard lock(registering_);
  const std::string name = provider.name + " (registered " + std::to_string(all_blas_.size()) + ")";
  add_blas(machine_with_blas(machine(), options_, provider, name), std::move(backend));
}

Engine::Impl::~Impl() {
  for (auto& arena : arenas_) delete arena.load();
}

Backend& Engine::Impl::backend(std::string_view name) {
  if (name == "blas") return *blas().backend;
  const std::lock_guard lock(backends_mutex_);
  constexpr std::string_view kNames[] = {"reference", "jit"};
  const auto at = static_cast<std::size_t>(std::find(std::begin(kNames), std::end(kNames), name) -
                                           std::begin(kNames));
  if (at == backends_.size())
    throw std::logic_error("a plan names the backend '" + std::string(name) + "'");
  if (!backends_[at]) {
    if (name == "reference") backends_[at] = make_reference_backend();
    if (name == "jit") backends_[at] = make_jit_backend(kernels_);
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

void Engine::register_blas(const BlasProvider& provider) {
  with_typed_memory_errors([&] { impl_->register_blas(provider); });
}

EngineStatistics Engine::statistics() const {
  return with_typed_memory_errors([&]() -> EngineStatistics {
    const KernelStatistics kernels = impl_->kernels().statistics();
    const PoolStatistics pool = impl_->pool().statistics();
    return {impl_->plans().statistics(), kernels.compiled,    kernels.held,  kernels.code_bytes,
            kernels.compile_seconds,     pool.retained_bytes, pool.in_flight};
  });
}

void Engine::clear() {
  with_typed_memory_errors([&] {
    impl_->plans().clear();
    impl_->pool().clear();
  });
}

std::vector<CacheEntry> Engine::cache_entries() const {
  return with_typed_memory_errors([&] { return impl_->plans().entries(); });
}
CacheLimits Engine::cache_limits() const { return impl_->plans().limits(); }
void Engine::set_cache_limits(const CacheLimits& limits) { impl_->plans().set_limits(limits); }
CacheHealth Engine::cache_health() const {
  return with_typed_memory_errors([&] { return impl_->plans().health(); });
}
void Engine::recover_cache() { impl_->plans().recover(); }

}  // namespace einjit
