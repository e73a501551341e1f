// The prepared-plan cache (CONTRACTS §4): one preparation a key, failures that are kept, LRU.
//
//   find(signature) ─known→ value
//   get(key) ─ready→ value  ─failed→ its error  ─under way→ wait  ─unknown→ prepare, or queue for
//   it
//
// An entry answers to names: the words of its plan key and those of the calls that led to it. A
// 128-bit digest finds the bucket; words are compared outside the lock and the find is confirmed
// under it. Under the lock nothing allocates and nothing throws: entries, names and list nodes are
// made before it, what leaves dies after it. Nothing is planned or compiled under it.
#pragma once

#include <array>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "einjit/cache.h"
#include "einjit/einsum.h"
#include "runtime/poison_lock.h"

namespace einjit {

class PlanCache {
 public:
  using Value = std::shared_ptr<const PreparedPlan::Impl>;
  using Words = std::vector<std::uint64_t>;
  using Producer = std::function<Value()>;

  /// Throws invalid_argument naming the limit that is not positive.
  explicit PlanCache(CacheLimits limits);
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  /// What one lookup asks for. `names` are the labels that sentences of a kept failure speak of.
  struct Request {
    Words key;
    Words signature;  // of the call, by which find() knows it next time; empty: none
    std::vector<std::string> names;
  };
  /// Null: not ready under this name, and nothing is counted. Counts a hit otherwise.
  Value find(std::span<const std::uint64_t> signature);
  /// The ready value, or `produce` called once a key, unlocked, by the first that asks. Throws what
  /// it throws; cancelled, capacity_exceeded, preparation_cycle, cache_poisoned,
  /// cache_entry_poisoned.
  Value get(Request request, const Producer& produce, const std::stop_token& stop);

  CacheStatistics statistics();
  CacheLimits limits();
  void set_limits(const CacheLimits& limits);
  /// Nothing that was under way before it is kept afterwards.
  void clear();
  std::vector<CacheEntry> entries();
  CacheHealth health() { return lock_.health(); }
  /// Drops every entry and lifts the poison; counted.
  void recover();

  /// Tests only: called under the lock between two whole states; it may throw.
  using Hook = std::function<void(const char* point)>;
  void set_hook(Hook hook) { hook_ = std::move(hook); }
  /// Tests only: one digest for every name.
  void force_collisions() { digests_collide_ = true; }
  const PoisonLock& lock() const { return lock_; }

 private:
  struct Entry;
  struct Name;
  class Waiter;
  class Lead;
  struct Draft;
  struct Answer;
  struct Digest {
    std::uint64_t low = 0, high = 0;
    bool operator==(const Digest&) const = default;
  };
  struct Found {
    std::shared_ptr<Name> name;
    std::uint64_t revision = 0;
  };
  using Entries = std::list<std::shared_ptr<Entry>>;

  Digest digest_of(std::span<const std::uint64_t> words) const;
  Found locate(Digest digest, std::span<const std::uint64_t> words);
  Answer enter(const Found& found, Draft& draft, Waiter& waiter, Lead& lead);
  Answer join(Entry& entry, Draft& draft, Waiter& waiter) noexcept;
  Answer admit(Draft& draft, Lead& lead) noexcept;
  Answer await(Waiter& waiter, Lead& lead, const std::stop_token& stop);
  bool await_slot(Lead& lead, const std::stop_token& stop);
  Value prepare(Lead& lead, const Producer& produce, const std::vector<std::string>& names);
  void settle(Lead& lead, Value value, std::exception_ptr failure, bool quarantined,
              const std::vector<std::string>& names);

  // Under the lock, noexcept, nothing allocated; what leaves goes to `dropped`.
  void link(const std::shared_ptr<Name>& name) noexcept;
  void unlink(Name& name) noexcept;
  void add_signature(Entry& entry, std::shared_ptr<Name>& name) noexcept;
  void drop(Entry& entry, Entries& dropped) noexcept;
  void drop_all(Entries& dropped) noexcept;
  void evict(Entries& dropped) noexcept;
  void count_bytes(const Entry& entry, std::int64_t sign) noexcept;
  void grant_slots() noexcept;
  void abandon(Entry& entry, Entries& dropped) noexcept;
  void at(const char* point);

  PoisonLock lock_{"the prepared-plan cache"};
  CacheLimits limits_;
  CacheStatistics statistics_;  // lookups is their sum, made when it is asked for
  std::uint64_t revision_ = 0;  // of the table of names
  std::vector<std::shared_ptr<Name>> buckets_;
  Entries kept_;      // ready, failed and quarantined, most recent first
  Entries underway_;  // queued and preparing, in the order of arrival; also those of before clear()
  Hook hook_;
  bool digests_collide_ = false;
};

}  // namespace einjit
