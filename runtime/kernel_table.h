// The Engine's kernels: one for each KernelSpec, compiled once, shared by every plan that needs it.
//
// A kernel lives as long as a prepared plan that uses it: the plan cache bounds both.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "jit/compiler.h"
#include "runtime/backend.h"

namespace einjit {

struct Kernel : SharedCode {
  std::unique_ptr<jit::LoadedCode> loaded;
  KernelEntry entry = nullptr;
};

struct KernelStatistics {
  std::int64_t compiled = 0, held = 0, code_bytes = 0;
  double compile_seconds = 0;
};

/// Thread-safe. Different specs compile side by side; two callers of one spec compile it once. No
/// lock is held while compiling.
class KernelTable {
 public:
  explicit KernelTable(jit::Target target) : target_(std::move(target)) {}

  /// Throws what the compiler throws; a failed spec may be tried again.
  std::shared_ptr<const Kernel> get(const KernelSpec& spec);
  KernelStatistics statistics() const;
  const jit::Target& target() const { return target_; }
  jit::Compiler& compiler();

 private:
  struct Entry {
    std::weak_ptr<const Kernel> kernel;
    bool underway = true;  // being compiled
  };
  void forget_dead_ones();
  const jit::Target target_;
  mutable std::mutex mutex_;
  std::condition_variable compiled_;
  std::unordered_map<KernelSpec, Entry> entries_;
  std::size_t swept_size_ = 64;
  std::once_flag opened_;
  std::unique_ptr<jit::Compiler> compiler_;
  std::atomic<std::int64_t> count_{0};
  double seconds_ = 0;
};

}  // namespace einjit
