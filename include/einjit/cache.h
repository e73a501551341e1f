// The prepared-plan cache as its users see it: limits, figures, health.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace einjit {

struct CacheLimits {
  std::int64_t entries = 128;                // prepared plans and kept failures
  std::int64_t retained_bytes = 64 << 20;    // plans, tables, code and data sections of kernels
  std::int64_t preparations_in_flight = 16;  // at once
  std::int64_t queued_keys = 64;             // distinct ones that wait for a preparation to end
  bool refuse_when_full = false;             // capacity_exceeded in place of waiting in line
  bool operator==(const CacheLimits&) const = default;
};

/// lookups = hits + misses + waits + negative_hits + refusals: each lookup counts once, by its
/// first outcome.
struct CacheStatistics {
  std::int64_t entries = 0, retained_bytes = 0;
  std::int64_t in_flight = 0, peak_in_flight = 0, queued_keys = 0;
  std::int64_t lookups = 0;
  std::int64_t hits = 0;           // ready
  std::int64_t misses = 0;         // this lookup prepares
  std::int64_t waits = 0;          // another one prepares the same key
  std::int64_t negative_hits = 0;  // known to fail
  std::int64_t refusals = 0;       // capacity_exceeded, preparation_cycle
  std::int64_t preparations = 0, evictions = 0, recoveries = 0;
  bool operator==(const CacheStatistics&) const = default;
};

/// Whether an exception passed through the cache's lock, where, and when.
struct CacheHealth {
  bool poisoned = false;
  std::string lock, cause;  // of the first time
  double seconds_since = 0;
};

/// One row of the inspector.
struct CacheEntry {
  enum class State : std::uint8_t { queued, preparing, ready, failed, quarantined };
  State state = State::ready;
  std::string plan;    // explain(), where it is ready
  std::string reason;  // the error's sentence, where it failed or is quarantined
  std::int64_t retained_bytes = 0;
  std::int64_t hits = 0;
};

}  // namespace einjit
