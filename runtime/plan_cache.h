// Prepared plans by their keys, the least recently used one leaving first.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "einjit/einsum.h"

namespace einjit {

/// Thread-safe. A digest finds the bucket, full equality decides. Nothing is planned or compiled
/// under the lock, and what leaves the cache dies after it.
class PlanCache {
 public:
  using Value = std::shared_ptr<const PreparedPlan::Impl>;

  /// Throws invalid_argument for fewer than one entry.
  explicit PlanCache(std::int64_t entries);
  /// Null: not there.
  Value find(const PlanKey& key, std::uint64_t digest);
  /// Where two threads prepared the same key, the first one stays.
  Value insert(PlanKey key, std::uint64_t digest, Value value);
  void clear();

  struct Statistics {
    std::int64_t hits = 0, misses = 0, entries = 0;
  };
  Statistics statistics() const;

 private:
  struct Entry {
    PlanKey key;
    std::uint64_t digest;
    Value value;
  };
  using Entries = std::list<Entry>;
  Entries::iterator locate(const PlanKey& key, std::uint64_t digest);

  const std::size_t limit_;
  mutable std::mutex mutex_;
  Entries entries_;  // most recent first
  std::unordered_multimap<std::uint64_t, Entries::iterator> by_digest_;
  std::int64_t hits_ = 0, misses_ = 0;
};

}  // namespace einjit
