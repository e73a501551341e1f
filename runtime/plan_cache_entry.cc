// The table of names, the bookkeeping of bytes, and the destructors that look through the poison.
#include "runtime/plan_cache_entry.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace einjit {

PlanCache::Digest PlanCache::digest_of(std::span<const std::uint64_t> words) const {
  if (digests_collide_) return {7, 7};
  const auto digest = XXH3_128bits(words.data(), words.size_bytes());
  return {digest.low64, digest.high64};
}

PlanCache::Found PlanCache::locate(Digest digest, std::span<const std::uint64_t> words) {
  std::uint64_t revision = 0;
  for (std::size_t compared = 0;;) {
    std::array<std::shared_ptr<Name>, 4> candidates;
    std::size_t count = 0;
    {
      const PoisonLock::Guard guard(lock_);
      at("locate");
      if (compared > 0 && revision != revision_) compared = 0;
      revision = revision_;
      std::size_t skip = compared;
      for (std::shared_ptr<Name>* at = &buckets_[digest.low % kBuckets];
           *at && count < candidates.size(); at = &(*at)->next)
        if ((*at)->digest == digest && (skip == 0 || skip-- == 0)) candidates[count++] = *at;
    }
    for (std::size_t i = 0; i < count; ++i)
      if (std::equal(words.begin(), words.end(), candidates[i]->words.begin(),
                     candidates[i]->words.end()))
        return {candidates[i], revision};
    if (count < candidates.size()) return {nullptr, revision};
    compared += count;
  }
}

void PlanCache::link(const std::shared_ptr<Name>& name) noexcept {
  std::shared_ptr<Name>& bucket = buckets_[name->digest.low % kBuckets];
  name->next = std::move(bucket);
  name->linked = true;
  bucket = name;
  ++revision_;
}

void PlanCache::unlink(Name& name) noexcept {
  if (!name.linked) return;
  std::shared_ptr<Name>* at = &buckets_[name.digest.low % kBuckets];
  while (at->get() != &name) at = &(*at)->next;
  *at = std::move(name.next);  // its entry still owns it
  name.linked = false;
  ++revision_;
}

/// The oldest signature makes room; it is handed back through `name`, to die after the lock.
void PlanCache::add_signature(Entry& entry, std::shared_ptr<Name>& name) noexcept {
  if (!name) return;
  for (const auto& known : entry.names)
    if (known && known->digest == name->digest && known->words == name->words) return;
  std::shared_ptr<Name>& place = entry.names[entry.next_signature];
  entry.next_signature = entry.next_signature % (kNames - 1) + 1;
  if (place) unlink(*place);
  name->entry = &entry;
  place.swap(name);
  link(place);
}

void PlanCache::drop(Entry& entry, Entries& dropped) noexcept {
  for (const auto& name : entry.names)
    if (name) unlink(*name);
  if (entry.is_settled()) {
    --statistics_.entries;
    count_bytes(entry, -1);
  }
  dropped.splice(dropped.end(), entry.is_settled() ? kept_ : underway_, entry.place);
}

void PlanCache::drop_all(Entries& dropped) noexcept {
  while (!kept_.empty()) drop(*kept_.front(), dropped);
  for (const auto& entry : underway_) {
    for (const auto& name : entry->names)
      if (name) unlink(*name);
    entry->orphan = true;
  }
}

void PlanCache::evict(Entries& dropped) noexcept {
  while (!kept_.empty() && (statistics_.entries > limits_.entries ||
                            statistics_.retained_bytes > limits_.retained_bytes)) {
    drop(*kept_.back(), dropped);
    ++statistics_.evictions;
  }
}

void PlanCache::count_bytes(const Entry& entry, std::int64_t sign) noexcept {
  statistics_.retained_bytes += sign * entry.bytes;
  if (!entry.value) return;
  for (const auto& step : entry.value->executor().steps())
    if (const SharedCode* code = step->code()) {
      const std::int64_t before = code->cached_steps, after = before + sign;
      code->cached_steps = after;
      if (before == 0 || after == 0) statistics_.retained_bytes += sign * code->bytes;
    }
}

std::int64_t PlanCache::Entry::bytes_of(const PreparedPlan::Impl* plan) const {
  std::int64_t total = sizeof(Entry) + (plan != nullptr ? plan->bytes() : 0);
  for (const auto& name : names)
    if (name) total += static_cast<std::int64_t>(sizeof(Name) + 8 * name->words.size());
  return total;
}

void PlanCache::Entry::promote_first_waiter() noexcept {
  Waiter* const first = first_waiter;
  producer = first->thread_;
  first->promoted_ = true;
}

void PlanCache::Entry::describe(CacheEntry& row) const {
  if (row.state == State::ready) row.plan = explain(value->plan());
  if (row.state == State::failed || row.state == State::quarantined) try {
      std::rethrow_exception(failure);
    } catch (const std::exception& e) {
      row.reason = e.what();
    }
}

PlanCache::Draft::Draft(PlanCache& cache, const Request& request, Digest digest) {
  node.push_back(std::make_shared<Entry>());
  Entry& entry = *node.front();
  entry.place = node.begin();
  key = std::make_shared<Name>();
  key->digest = digest;
  key->words = request.key;
  key->entry = &entry;
  entry.names[0] = key;
  if (request.signature.empty()) return;
  signature = std::make_shared<Name>();
  signature->digest = cache.digest_of(request.signature);
  signature->words = request.signature;
}

void PlanCache::Waiter::wait_for(const std::shared_ptr<Entry>& entry) noexcept {
  entry_ = entry;
  (entry->last_waiter != nullptr ? entry->last_waiter->next_ : entry->first_waiter) = this;
  entry->last_waiter = this;
}

std::shared_ptr<PlanCache::Entry> PlanCache::Waiter::leave() noexcept {
  Waiter* before = nullptr;
  for (Waiter* w = entry_->first_waiter; w != this; w = w->next_) before = w;
  (before != nullptr ? before->next_ : entry_->first_waiter) = next_;
  if (entry_->last_waiter == this) entry_->last_waiter = before;
  promoted_ = false;
  return std::move(entry_);
}

PlanCache::Waiter::~Waiter() {
  if (!entry_) return;
  Entries dropped;
  std::shared_ptr<Entry> entry;  // dies after the lock
  const PoisonLock::LastRites guard(cache_.lock_);
  const bool responsible = promoted_;
  entry = leave();
  if (responsible) cache_.abandon(*entry, dropped);
}

PlanCache::Lead::~Lead() {
  if (!entry_) return;
  Entries dropped;
  const PoisonLock::LastRites guard(cache_.lock_);
  cache_.abandon(*entry_, dropped);
}

}  // namespace einjit
