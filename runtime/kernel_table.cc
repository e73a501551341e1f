// KernelSpec → shared kernel.
#include "runtime/kernel_table.h"

#include <algorithm>
#include <chrono>

#include "runtime/exit_gate.h"

namespace einjit {

jit::Compiler& KernelTable::compiler() {
  std::call_once(opened_, [this] {
    compiler_ = jit::open_compiler();
    ExitGate::guard_opened_library();
  });
  return *compiler_;
}

std::shared_ptr<const Kernel> KernelTable::get(const KernelSpec& spec) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto known = entries_.find(spec);
    if (known == entries_.end()) break;
    if (known->second.kernel) return known->second.kernel;
    compiled_.wait(lock);  // somebody compiles it; if that fails the entry is gone and we try
  }
  entries_.emplace(spec, Entry{});
  lock.unlock();
  try {
    const auto start = std::chrono::steady_clock::now();
    auto kernel = std::make_shared<Kernel>();
    {
      jit::Compiler& opened = compiler();
      const ExitGate inside;
      kernel->code = opened.load(opened.compile_object(spec, target_));
    }
    kernel->entry = kernel->code->entry();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    lock.lock();
    entries_[spec].kernel = kernel;
    seconds_ += took.count();
    ++count_;
    compiled_.notify_all();
    return kernel;
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    entries_.erase(spec);
    compiled_.notify_all();
    throw;
  }
}

/// One at a time: this takes no memory, and code is freed outside the lock.
void KernelTable::drop_unused() {
  const auto is_unused = [](const auto& entry) {
    return entry.second.kernel && entry.second.kernel.use_count() == 1;
  };
  for (;;) {
    decltype(entries_)::node_type dropped;
    const std::lock_guard lock(mutex_);
    const auto unused = std::find_if(entries_.begin(), entries_.end(), is_unused);
    if (unused == entries_.end()) return;
    dropped = entries_.extract(unused);
  }
}

KernelStatistics KernelTable::statistics() const {
  const std::lock_guard lock(mutex_);
  KernelStatistics s{count_, 0, 0, seconds_};
  for (const auto& [spec, entry] : entries_)
    if (entry.kernel) {
      ++s.held;
      s.code_bytes += static_cast<std::int64_t>(entry.kernel->code->code_bytes());
    }
  return s;
}

}  // namespace einjit
