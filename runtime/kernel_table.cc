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
    if (auto kernel = known->second.kernel.lock()) return kernel;
    if (!known->second.underway) break;
    compiled_.wait(lock);  // somebody compiles it; if that fails the entry is gone and we try
  }
  forget_dead_ones();
  entries_[spec] = Entry{};
  lock.unlock();
  try {
    const auto start = std::chrono::steady_clock::now();
    auto kernel = std::make_shared<Kernel>();
    {
      jit::Compiler& opened = compiler();
      const ExitGate inside;
      kernel->loaded = opened.load(opened.compile_object(spec, target_));
    }
    kernel->entry = kernel->loaded->entry();
    kernel->bytes = static_cast<std::int64_t>(kernel->loaded->code_bytes());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    lock.lock();
    entries_.find(spec)->second = {kernel, false};
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

void KernelTable::forget_dead_ones() {
  if (entries_.size() < 2 * swept_size_) return;
  std::erase_if(entries_, [](const auto& row) {
    return !row.second.underway && row.second.kernel.expired();
  });
  swept_size_ = std::max<std::size_t>(entries_.size(), 64);
}

KernelStatistics KernelTable::statistics() const {
  const std::lock_guard lock(mutex_);
  KernelStatistics s{count_, 0, 0, seconds_};
  for (const auto& [spec, entry] : entries_)
    if (const auto kernel = entry.kernel.lock()) {
      ++s.held;
      s.code_bytes += kernel->bytes;
    }
  return s;
}

}  // namespace einjit
