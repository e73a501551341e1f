// Replays one record of the oracle through the public API and compares exactly.
#pragma once

#include "einjit/einsum.h"
#include "tools/oracle_record.h"
#include "tools/tally.h"

namespace einjit {

/// Each record runs once per kind of destination that it allows: storage without a value (beta =
/// 0), and initialized storage; without `out`, einsum's own tensor. `rounds` > 1: all of it again,
/// then from the plan cache. After every run all elements that the strides do not reach hold the
/// same bits as before.
Verdict replay(const ExecContext& context, const OracleRecord& record, const EinsumOptions& options,
               int rounds);

}  // namespace einjit
