// How wide a call may be where it is made.
#include "runtime/thread_policy.h"

#include <tbb/global_control.h>
#include <tbb/info.h>

#include <algorithm>

namespace einjit {

std::int32_t thread_width(const ExecContext& context) {
  if (context.policy() == ThreadPolicy::serial) return 1;
  const std::int32_t here = tbb::this_task_arena::max_concurrency();
  if (context.policy() == ThreadPolicy::ambient) return here;
  const auto allowed = static_cast<std::int32_t>(
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
  const std::int32_t n = std::clamp(context.threads(), 1, std::max(allowed, 1));
  // A thread outside every task reports the default width too: that one is no bound of the
  // caller's.
  return here == tbb::info::default_concurrency() ? n : std::min(n, here);
}

}  // namespace einjit
