// A least-recently-used table of prepared plans.
#include "runtime/plan_cache.h"

#include <string>

namespace einjit {

PlanCache::PlanCache(std::int64_t entries) : limit_(static_cast<std::size_t>(entries)) {
  if (entries < 1)
    throw Error(ErrorCode::invalid_argument,
                "cache_entries is " + std::to_string(entries) + "; it must be at least 1");
}

PlanCache::Entries::iterator PlanCache::locate(const PlanKey& key, std::uint64_t digest) {
  const auto [first, last] = by_digest_.equal_range(digest);
  for (auto at = first; at != last; ++at)
    if (at->second->key == key) return at->second;
  return entries_.end();
}

PlanCache::Value PlanCache::find(const PlanKey& key, std::uint64_t digest) {
  const std::lock_guard lock(mutex_);
  const auto entry = locate(key, digest);
  if (entry == entries_.end()) {
    ++misses_;
    return nullptr;
  }
  ++hits_;
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->value;
}

PlanCache::Value PlanCache::insert(PlanKey key, std::uint64_t digest, Value value) {
  Entries made, evicted;  // both die after the lock
  made.push_back({std::move(key), digest, std::move(value)});
  const std::lock_guard lock(mutex_);
  if (const auto known = locate(made.front().key, digest); known != entries_.end())
    return known->value;
  by_digest_.emplace(digest, made.begin());
  entries_.splice(entries_.begin(), made);
  while (entries_.size() > limit_) {
    const auto oldest = std::prev(entries_.end());
    const auto [first, last] = by_digest_.equal_range(oldest->digest);
    for (auto at = first; at != last; ++at)
      if (at->second == oldest) {
        by_digest_.erase(at);
        break;
      }
    evicted.splice(evicted.begin(), entries_, oldest);
  }
  return entries_.front().value;
}

void PlanCache::clear() {
  Entries dropped;
  const std::lock_guard lock(mutex_);
  by_digest_.clear();
  dropped.swap(entries_);
}

PlanCache::Statistics PlanCache::statistics() const {
  const std::lock_guard lock(mutex_);
  return {hits_, misses_, static_cast<std::int64_t>(entries_.size())};
}

}  // namespace einjit
