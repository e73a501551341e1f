// Locking, and what unwinding through the lock leaves behind.
#include "runtime/poison_lock.h"

#include <exception>
#include <string>

namespace einjit {

PoisonLock::Guard::Guard(PoisonLock& lock)
    : poison_(lock), lock_(lock.mutex_), unwinding_(std::uncaught_exceptions()) {
  if (poison_.poisoned_) throw poison_.error();
  poison_.holder_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

PoisonLock::Guard::~Guard() {
  poison_.holder_.store({}, std::memory_order_relaxed);
  if (std::uncaught_exceptions() <= unwinding_ || poison_.poisoned_) return;
  poison_.poisoned_ = true;
  poison_.cause_ = poison_.point_;
  poison_.since_ = std::chrono::steady_clock::now();
  poison_.wake_all();
}

Error PoisonLock::error() const {
  return Error(ErrorCode::cache_poisoned,
               "an exception passed through the lock of " + std::string(name_) + " (" + cause_ +
                   "); what it guards may be inconsistent until recover() drops it");
}

CacheHealth PoisonLock::health() {
  const LastRites guard(*this);
  if (!poisoned_) return {};
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - since_;
  return {true, name_, cause_, passed.count()};
}

}  // namespace einjit
