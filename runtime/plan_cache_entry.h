// What the cache's table holds, and the stakes that threads have in an entry under way.
#pragma once

#include "runtime/plan_cache.h"
#include "runtime/prepared_plan_impl.h"

namespace einjit {

using State = CacheEntry::State;

inline constexpr std::size_t kBuckets = 1024;  // chains of one at the default limits
inline constexpr std::size_t kNames = 5;       // the key, and the last four signatures

struct PlanCache::Name {
  Digest digest;
  Words words;
  Entry* entry = nullptr;
  bool linked = false;
  std::shared_ptr<Name> next;  // in its bucket
};

struct PlanCache::Entry {
  State state = State::queued;
  std::thread::id producer;
  std::array<std::shared_ptr<Name>, kNames> names;  // the first is the plan key
  std::size_t next_signature = 1;
  Entries::iterator place;  // in kept_ or underway_
  bool orphan = false;      // the cache was cleared meanwhile: it settles for those who wait
  Waiter* first_waiter = nullptr;
  Waiter* last_waiter = nullptr;
  Value value;
  std::exception_ptr failure;
  std::vector<std::string> failure_names;
  std::int64_t bytes = 0;  // beside kernels
  std::int64_t hits = 0;

  bool is_settled() const { return state != State::queued && state != State::preparing; }
  std::int64_t bytes_of(const PreparedPlan::Impl* plan) const;
  void promote_first_waiter() noexcept;
  /// The texts of a row of the inspector.
  void describe(CacheEntry& row) const;
};

/// Everything a miss needs, made before the lock.
struct PlanCache::Draft {
  Draft(PlanCache& cache, const Request& request, Digest digest);
  const Words& words() const { return key->words; }
  std::shared_ptr<Name> key, signature;  // the latter null where the call has none
  Entries node;                          // one entry
};

struct PlanCache::Answer {
  enum class Kind : std::uint8_t {
    retry,
    value,
    failure,
    cycle,
    full,
    wait,
    lead,
    stopped,
    poisoned
  };
  Kind kind = Kind::retry;
  Value value = {};
  std::shared_ptr<Entry> entry = {};
  CacheLimits limits = {};
};

/// A thread in line behind the producer of an entry.
class PlanCache::Waiter {
 public:
  explicit Waiter(PlanCache& cache) : cache_(cache) {}
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  void wait_for(const std::shared_ptr<Entry>& entry) noexcept;
  const std::shared_ptr<Entry>& entry() const { return entry_; }
  bool is_promoted() const { return promoted_; }
  /// Under the lock: no longer in line, nor responsible for the entry.
  std::shared_ptr<Entry> leave() noexcept;

 private:
  friend struct Entry;
  PlanCache& cache_;
  std::shared_ptr<Entry> entry_;
  const std::thread::id thread_ = std::this_thread::get_id();
  Waiter* next_ = nullptr;
  bool promoted_ = false;
};

/// The thread that is responsible for an entry: in the queue for a slot, or preparing.
class PlanCache::Lead {
 public:
  explicit Lead(PlanCache& cache) : cache_(cache) {}
  ~Lead();
  Lead(const Lead&) = delete;
  Lead& operator=(const Lead&) = delete;
  void take(std::shared_ptr<Entry> entry) noexcept { entry_ = std::move(entry); }
  const std::shared_ptr<Entry>& entry() const { return entry_; }
  /// Under the lock: the entry is settled.
  void leave() noexcept { entry_.reset(); }

 private:
  PlanCache& cache_;
  std::shared_ptr<Entry> entry_;
};

}  // namespace einjit
