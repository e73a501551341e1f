// Looking up, joining and preparing: the life of an entry.
#include "runtime/plan_cache.h"

#include <algorithm>
#include <string>

#include "einjit/error.h"
#include "runtime/plan_cache_entry.h"

namespace einjit {
namespace {

void check_limits(const CacheLimits& limits) {
  const auto positive = [](const char* what, std::int64_t value) {
    if (value < 1)
      throw Error(ErrorCode::invalid_argument, "the cache limit " + std::string(what) + " is " +
                                                   std::to_string(value) +
                                                   "; it must be at least 1");
  };
  positive("entries", limits.entries);
  positive("retained_bytes", limits.retained_bytes);
  positive("preparations_in_flight", limits.preparations_in_flight);
  positive("queued_keys", limits.queued_keys);
}

/// Errors that the key alone decides come again; the others may not.
bool is_deterministic(ErrorCode code) {
  constexpr ErrorCode kTransient[] = {ErrorCode::out_of_memory,     ErrorCode::backend_failure,
                                      ErrorCode::cancelled,         ErrorCode::io_error,
                                      ErrorCode::preparation_cycle, ErrorCode::capacity_exceeded,
                                      ErrorCode::cache_poisoned};
  return std::find(std::begin(kTransient), std::end(kTransient), code) == std::end(kTransient);
}

[[noreturn]] void refuse_cycle() {
  throw Error(ErrorCode::preparation_cycle,
              "a preparation asked for the plan it is preparing, or for a place in the line that "
              "waits for it");
}

[[noreturn]] void refuse_full(const CacheLimits& limits) {
  throw Error(
      ErrorCode::capacity_exceeded,
      std::to_string(limits.preparations_in_flight) + " preparations are under way and " +
          (limits.refuse_when_full ? std::string("the cache was told to refuse more")
                                   : std::to_string(limits.queued_keys) + " keys wait already"));
}

[[noreturn]] void refuse_cancelled() {
  throw Error(ErrorCode::cancelled, "waiting for a prepared plan was stopped by the stop token");
}

}  // namespace

PlanCache::PlanCache(CacheLimits limits) : limits_(limits), buckets_(kBuckets) {
  check_limits(limits);
}

PlanCache::Value PlanCache::find(std::span<const std::uint64_t> signature) {
  const Found found = locate(digest_of(signature), signature);
  if (!found.name) return nullptr;
  const PoisonLock::Guard guard(lock_);
  at("find");
  if (!found.name->linked) return nullptr;
  Entry& entry = *found.name->entry;
  if (entry.state != State::ready) return nullptr;
  ++statistics_.hits;
  ++entry.hits;
  kept_.splice(kept_.begin(), kept_, entry.place);
  return entry.value;
}

PlanCache::Value PlanCache::get(Request request, const Producer& produce,
                                const std::stop_token& stop) {
  const Digest digest = digest_of(request.key);
  Draft draft(*this, request, digest);
  Waiter waiter(*this);
  Lead lead(*this);
  Answer answer;
  do answer = enter(locate(digest, draft.words()), draft, waiter, lead);
  while (answer.kind == Answer::Kind::retry);
  if (answer.kind == Answer::Kind::wait) answer = await(waiter, lead, stop);
  switch (answer.kind) {
    case Answer::Kind::value:
      return std::move(answer.value);
    case Answer::Kind::failure:
      // Sentences speak in the labels of whoever asked first; with others the error is made anew.
      if (answer.entry->failure_names != request.names && answer.entry->state == State::failed)
        return produce();
      std::rethrow_exception(answer.entry->failure);
    case Answer::Kind::cycle:
      refuse_cycle();
    case Answer::Kind::full:
      refuse_full(answer.limits);
    case Answer::Kind::stopped:
      refuse_cancelled();
    case Answer::Kind::poisoned:
      throw lock_.error();
    case Answer::Kind::lead:
    case Answer::Kind::wait:
    case Answer::Kind::retry:
      break;
  }
  if (!await_slot(lead, stop)) refuse_cancelled();
  return prepare(lead, produce, request.names);
}

PlanCache::Answer PlanCache::enter(const Found& found, Draft& draft, Waiter& waiter, Lead& lead) {
  const PoisonLock::Guard guard(lock_);
  at("enter");
  if (found.name ? !found.name->linked : revision_ != found.revision) return {Answer::Kind::retry};
  Answer answer = found.name ? join(*found.name->entry, draft, waiter) : admit(draft, lead);
  at("entered");
  return answer;
}

PlanCache::Answer PlanCache::join(Entry& entry, Draft& draft, Waiter& waiter) noexcept {
  switch (entry.state) {
    case State::ready:
      ++statistics_.hits;
      ++entry.hits;
      kept_.splice(kept_.begin(), kept_, entry.place);
      add_signature(entry, draft.signature);
      return {Answer::Kind::value, entry.value};
    case State::failed:
    case State::quarantined:
      ++statistics_.negative_hits;
      kept_.splice(kept_.begin(), kept_, entry.place);
      return {Answer::Kind::failure, {}, *entry.place};
    case State::queued:
    case State::preparing:
      break;
  }
  if (entry.producer == std::this_thread::get_id()) {
    ++statistics_.refusals;
    return {Answer::Kind::cycle};
  }
  ++statistics_.waits;
  waiter.wait_for(*entry.place);
  return {Answer::Kind::wait};
}

PlanCache::Answer PlanCache::admit(Draft& draft, Lead& lead) noexcept {
  const bool slot =
      statistics_.in_flight < limits_.preparations_in_flight && statistics_.queued_keys == 0;
  const auto me = std::this_thread::get_id();
  const bool nested = std::any_of(underway_.begin(), underway_.end(),
                                  [&](const auto& e) { return e->producer == me; });
  const bool full = limits_.refuse_when_full || statistics_.queued_keys >= limits_.queued_keys;
  if (!slot && (nested || full)) {
    ++statistics_.refusals;
    if (nested) return {Answer::Kind::cycle};
    return {Answer::Kind::full, {}, {}, limits_};
  }
  ++statistics_.misses;
  Entry& entry = *draft.node.front();
  entry.producer = me;
  entry.state = slot ? State::preparing : State::queued;
  ++(slot ? statistics_.in_flight : statistics_.queued_keys);
  statistics_.peak_in_flight = std::max(statistics_.peak_in_flight, statistics_.in_flight);
  underway_.splice(underway_.end(), draft.node);
  lead.take(*entry.place);
  link(entry.names[0]);
  add_signature(entry, draft.signature);
  return {Answer::Kind::lead};
}

/// Until the entry is settled, or this thread is the first in line after its producer gave up.
PlanCache::Answer PlanCache::await(Waiter& waiter, Lead& lead, const std::stop_token& stop) {
  const std::shared_ptr<Entry> entry = waiter.entry();  // dies after the lock
  PoisonLock::Guard guard(lock_);
  at("wait");
  const bool woken = guard.wait(stop, [&] { return waiter.is_promoted() || entry->is_settled(); });
  if (lock_.is_poisoned()) return {Answer::Kind::poisoned};
  if (!woken) return {Answer::Kind::stopped};
  if (waiter.is_promoted()) {
    lead.take(waiter.leave());
    return {Answer::Kind::lead};
  }
  waiter.leave();
  if (entry->state == State::ready) return {Answer::Kind::value, entry->value};
  return {Answer::Kind::failure, {}, entry};
}

bool PlanCache::await_slot(Lead& lead, const std::stop_token& stop) {
  bool granted = false, poisoned = false;
  {
    PoisonLock::Guard guard(lock_);
    at("queue");
    granted = guard.wait(stop, [&] { return lead.entry()->state == State::preparing; });
    poisoned = lock_.is_poisoned();
  }
  if (poisoned) throw lock_.error();
  return granted;
}

PlanCache::Value PlanCache::prepare(Lead& lead, const Producer& produce,
                                    const std::vector<std::string>& names) {
  Value value;
  try {
    value = produce();
  } catch (const Error& e) {
    if (e.code() == ErrorCode::cache_entry_poisoned)
      settle(lead, nullptr, std::current_exception(), true, names);
    else if (is_deterministic(e.code()))
      settle(lead, nullptr, std::current_exception(), false, names);
    throw;  // otherwise the first waiter prepares in our place: ~Lead
  }
  settle(lead, value, nullptr, false, names);
  return value;
}

void PlanCache::settle(Lead& lead, Value value, std::exception_ptr failure, bool quarantined,
                       const std::vector<std::string>& names) {
  const std::shared_ptr<Entry> entry = lead.entry();
  std::vector<std::string> failure_names;
  if (failure) failure_names = names;
  const std::int64_t bytes = entry->bytes_of(value.get());
  Entries dropped;
  const PoisonLock::Guard guard(lock_);
  at("settle");
  entry->value = std::move(value);
  entry->failure = std::move(failure);
  entry->failure_names.swap(failure_names);
  entry->bytes = bytes;
  entry->state = quarantined ? State::quarantined : entry->failure ? State::failed : State::ready;
  --statistics_.in_flight;
  ++statistics_.preparations;
  lead.leave();
  if (entry->orphan) {
    dropped.splice(dropped.end(), underway_, entry->place);
  } else {
    kept_.splice(kept_.begin(), underway_, entry->place);
    ++statistics_.entries;
    count_bytes(*entry, 1);
    evict(dropped);
  }
  grant_slots();
  lock_.wake_all();
  at("settled");
}

void PlanCache::abandon(Entry& entry, Entries& dropped) noexcept {
  if (!lock_.is_poisoned() && entry.first_waiter != nullptr) {
    entry.promote_first_waiter();
  } else {
    --(entry.state == State::queued ? statistics_.queued_keys : statistics_.in_flight);
    drop(entry, dropped);
    grant_slots();
  }
  lock_.wake_all();
}

void PlanCache::grant_slots() noexcept {
  for (const auto& entry : underway_) {
    if (statistics_.in_flight >= limits_.preparations_in_flight) return;
    if (entry->state != State::queued) continue;
    entry->state = State::preparing;
    --statistics_.queued_keys;
    ++statistics_.in_flight;
    statistics_.peak_in_flight = std::max(statistics_.peak_in_flight, statistics_.in_flight);
  }
}

CacheStatistics PlanCache::statistics() {
  const PoisonLock::Guard guard(lock_);
  at("statistics");
  CacheStatistics s = statistics_;
  s.lookups = s.hits + s.misses + s.waits + s.negative_hits + s.refusals;
  return s;
}

CacheLimits PlanCache::limits() {
  const PoisonLock::Guard guard(lock_);
  return limits_;
}

void PlanCache::set_limits(const CacheLimits& limits) {
  check_limits(limits);
  Entries dropped;
  const PoisonLock::Guard guard(lock_);
  at("set_limits");
  limits_ = limits;
  evict(dropped);
  grant_slots();
  lock_.wake_all();
}

void PlanCache::clear() {
  Entries dropped;
  const PoisonLock::Guard guard(lock_);
  at("clear");
  drop_all(dropped);
}

void PlanCache::recover() {
  Entries dropped;
  const PoisonLock::LastRites guard(lock_);
  drop_all(dropped);
  lock_.heal();
  ++statistics_.recoveries;
}

std::vector<CacheEntry> PlanCache::entries() {
  std::vector<std::shared_ptr<Entry>> found;
  std::vector<CacheEntry> rows;
  const CacheLimits room = limits();
  const auto most =
      static_cast<std::size_t>(room.entries + room.preparations_in_flight + room.queued_keys);
  found.reserve(most);
  rows.reserve(most);
  {
    const PoisonLock::Guard guard(lock_);
    at("entries");
    for (const Entries* list : {&kept_, &underway_})
      for (const auto& entry : *list)
        if (found.size() < most) {
          found.push_back(entry);
          rows.push_back({entry->state, {}, {}, entry->bytes, entry->hits});
        }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) found[i]->describe(rows[i]);
  return rows;
}

void PlanCache::at(const char* point) {
  lock_.at(point);
  if (hook_) hook_(point);
}

}  // namespace einjit
