// A lock that remembers that an exception passed through it (CONTRACTS §4.6).
//
// std::mutex has no poison: a guard compares std::uncaught_exceptions() with the count at lock
// time, so a call made from a destructor in the middle of unwinding poisons nothing. Once poisoned
// every Guard throws cache_poisoned naming the lock; only a LastRites, the guard of destructors
// that finish accounting, and health() and heal() look through it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "einjit/cache.h"
#include "einjit/error.h"

namespace einjit {

class PoisonLock {
 public:
  explicit PoisonLock(const char* name) : name_(name) {}
  PoisonLock(const PoisonLock&) = delete;
  PoisonLock& operator=(const PoisonLock&) = delete;

  class Guard {
   public:
    /// Throws cache_poisoned, holding nothing.
    explicit Guard(PoisonLock& lock);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    /// Waits until `holds` does. False: poisoned or stopped, whichever came first.
    template <class Condition>
    [[nodiscard]] bool wait(const std::stop_token& stop, const Condition& holds) {
      poison_.changed_.wait(lock_, stop, [&] { return poison_.poisoned_ || holds(); });
      return !poison_.poisoned_ && holds();
    }

   private:
    PoisonLock& poison_;
    std::unique_lock<std::mutex> lock_;
    const int unwinding_;
  };

  /// Locks whether poisoned or not and never poisons: for destructors and for recovery.
  class LastRites {
   public:
    explicit LastRites(PoisonLock& lock) : lock_(lock.mutex_) {}

   private:
    std::lock_guard<std::mutex> lock_;
  };

  void wake_all() noexcept { changed_.notify_all(); }
  /// Under either guard.
  bool is_poisoned() const { return poisoned_; }
  /// A point between two whole states, under the lock: named as the cause if unwinding starts here.
  void at(const char* point) noexcept { point_ = point; }
  CacheHealth health();
  /// Under LastRites.
  void heal() noexcept { poisoned_ = false; }
  /// What a Guard throws where it is poisoned.
  Error error() const;
  bool is_held_by_this_thread() const { return holder_ == std::this_thread::get_id(); }

 private:
  const char* const name_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::atomic<std::thread::id> holder_{};  // by a Guard
  bool poisoned_ = false;
  const char* point_ = "";
  const char* cause_ = "";
  std::chrono::steady_clock::time_point since_;
};

}  // namespace einjit
