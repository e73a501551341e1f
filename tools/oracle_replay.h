// Replays one record of the oracle through the public API and compares exactly.
#pragma once

#include "einjit/einsum.h"
#include "tools/oracle_record.h"
#include "tools/tally.h"

namespace einjit {

struct ReplayMode {
  /// Every buffer between guard pages; a destination without a seed starts without a value: it
  /// holds sentinels (under memcheck: nothing), and is reached through an UninitView alone.
  bool uninit = false;
  /// Every call twice, the second time with copies at other addresses: first the plan must be made,
  /// then come from the cache, and the bits be equal. The Engine serves no other caller meanwhile.
  bool cached = false;
  std::size_t index = 0;  // of the record: rotates sentinels and sides
};

/// Each record runs once per kind of destination that it allows: storage without a value (beta =
/// 0), and initialized storage; without `out`, einsum's own tensor. After every run all elements
/// that the strides do not reach hold the same bits as before.
Verdict replay(const ExecContext& context, const OracleRecord& record, const EinsumOptions& options,
               const ReplayMode& mode);

}  // namespace einjit
