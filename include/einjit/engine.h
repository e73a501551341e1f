// Owners of everything that outlives a call, and the context that every call runs under.
//
// Engine (move-only) owns the plan cache, the kernel table, the buffer pool, the backends and the
// Machine. ExecContext (a small value) names an Engine, a thread policy, a stop token and limits;
// every entry point takes one, and there is no ambient default. Two Engines share nothing but
// LLVM's own initialization and the flag that says the JIT has died.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "einjit/blas_provider.h"
#include "einjit/cache.h"
#include "einjit/machine.h"
#include "einjit/plan.h"

namespace einjit {

struct EngineOptions {
  std::optional<Machine> machine;  // absent: the table row of this CPU's features
  std::string
      blas_path;  // a shared library with a Fortran BLAS; empty: Debian's OpenBLAS (pthread build)
  std::string blas_symbol_suffix = "_";          // its names are "dgemm" + this
  std::int32_t blas_integer_bits = 32;           // 32 (LP64) or 64 (ILP64)
  std::string target_cpu;                        // empty: EINJIT_TARGET_CPU, else the host's
  std::int64_t pool_retained_bytes = 100 << 20;  // buffers kept for later calls; 0: none
  CacheLimits cache;                             // of prepared plans
};

struct EngineStatistics {
  CacheStatistics cache;
  std::int64_t kernels_compiled = 0, kernels_held = 0, code_bytes = 0;
  double compile_seconds = 0;
  std::int64_t pool_retained_bytes = 0, pool_in_flight = 0;
};

class Engine {
 public:
  /// Throws invalid_argument for settings that make no sense. Opens neither LLVM nor a BLAS.
  static Engine make(EngineOptions options = {});
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  const Machine& machine() const;  // stays valid as long as the Engine
  /// The provider takes the place of "blas" in plans made from now on; plans already prepared keep
  /// the one they have. It is tested first, on exact products into NaN-filled results with gaps: a
  /// fault is backend_failure and changes nothing. Throws invalid_argument for a provider without a
  /// name or a gemm. Thread-safe; a call that is being prepared meanwhile may take either.
  void register_blas(const BlasProvider& provider);
  /// Throws cache_poisoned, as all that follow but cache_health and recover_cache.
  EngineStatistics statistics() const;
  /// Drops cached plans, kernels that no plan uses any more, and pooled buffers.
  void clear();
  std::vector<CacheEntry> cache_entries() const;
  CacheLimits cache_limits() const;
  /// Evicts what is too much. Throws invalid_argument for a limit below 1.
  void set_cache_limits(const CacheLimits& limits);
  /// Whether an exception passed through the cache's lock (CONTRACTS: poison), where and when.
  CacheHealth cache_health() const;
  /// The way back from poison: drops every entry and lifts it.
  void recover_cache();

  class Impl;
  Impl& impl() const { return *impl_; }

 private:
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

enum class ThreadPolicy : std::uint8_t { serial, max_threads, ambient };

/// Reference to an Engine and the policy of one call. Copies are cheap. The Engine must outlive it.
class ExecContext {
 public:
  /// The calling thread alone: not one TBB call.
  static ExecContext serial(Engine& engine) { return ExecContext(engine, ThreadPolicy::serial, 1); }
  /// At most n threads in an arena of einjit's own. Throws invalid_argument for n < 1.
  static ExecContext max_threads(Engine& engine, std::int32_t n);
  /// The arena of the calling TBB task, or TBB's default one.
  static ExecContext ambient(Engine& engine);

  ExecContext with_stop(std::stop_token token) const {
    ExecContext c = *this;
    c.stop_ = std::move(token);
    return c;
  }
  ExecContext with_determinism(Determinism d) const {
    ExecContext c = *this;
    c.determinism_ = d;
    return c;
  }
  /// Bounds arena + threads × workspace of every call (operands and destination not counted).
  ExecContext with_memory_limit(double bytes) const {
    ExecContext c = *this;
    c.memory_limit_bytes_ = bytes;
    return c;
  }

  Engine& engine() const { return *engine_; }
  ThreadPolicy policy() const { return policy_; }
  std::int32_t threads() const { return threads_; }
  Determinism determinism() const { return determinism_; }
  const std::stop_token& stop() const { return stop_; }
  std::optional<double> memory_limit_bytes() const { return memory_limit_bytes_; }

 private:
  ExecContext(Engine& engine, ThreadPolicy policy, std::int32_t threads)
      : engine_(&engine), policy_(policy), threads_(threads) {}
  Engine* engine_;
  ThreadPolicy policy_;
  std::int32_t threads_;
  Determinism determinism_ = Determinism::reproducible;
  std::stop_token stop_;
  std::optional<double> memory_limit_bytes_;
};

}  // namespace einjit
