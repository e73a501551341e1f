// Reported cases of mode "stress": what only many calls, threads or processes show. A table by id.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace einjit {

struct StressOptions {
  bool full = false;  // the counts that the case names; otherwise scaled to seconds
};

/// What a stress case returns: wrong (a sentence) or not, and what to print of it.
struct StressResult {
  std::string wrong;
  std::string figure;
};

struct StressCase {
  std::string_view id;
  StressResult (*run)(const StressOptions&);  // nullptr: cannot run; `reason` says why
  std::string_view reason;                    // also why it needs --full, where full_only
  bool full_only = false;
};

std::span<const StressCase> stress_cases();

/// Case C302's other half: computes on several threads and leaves the process by exit(), while a
/// worker is "idle" or "running". Called by this program started again.
[[noreturn]] void exit_while(std::string_view what);

StressResult cache_evicts(const StressOptions&);
StressResult alignment_is_free(const StressOptions&);
StressResult threads_agree(const StressOptions&);
StressResult long_call_beside_short_ones(const StressOptions&);
StressResult waiting_never_steals(const StressOptions&);
StressResult two_arenas(const StressOptions&);
StressResult tiny_work_stays_serial(const StressOptions&);
StressResult forks_while_computing(const StressOptions&);
StressResult exits_cleanly(const StressOptions&);
StressResult kernels_come_and_go(const StressOptions&);
StressResult compiles_beside_runs(const StressOptions&);
StressResult compiles_beside_large_heap(const StressOptions&);
StressResult failure_then_success(const StressOptions&);

}  // namespace einjit
