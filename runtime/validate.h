// The checks on operands and destinations that need strides and addresses, in the order of
// CONTRACTS §1.3: operand bounds → destination type → shape → injectivity → bounds → overlap.
//
// A view's reach is a range of byte offsets from its index 0; a prepared plan keeps the reaches of
// its layouts, so that a run only adds addresses. Bounds and overlap are decided on whole ranges
// (conservative for overlap). A view with an extent of 0 touches nothing.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "einjit/einsum.h"

namespace einjit {

struct Reach {
  __int128 low = 0, high = 0;  // bytes, [low, high)
  bool empty = false;
};
Reach reach_of(DType type, std::span<const std::int64_t> extents,
               std::span<const std::int64_t> strides);

/// As many strides as extents in every operand (rank_mismatch), everything inside its buffer.
void check_operand_bounds(Operands operands);

/// Type, shape and injectivity of a destination; `shape` and `result` are what the expression
/// makes.
void check_destination_layout(DType type, std::span<const std::int64_t> extents,
                              std::span<const std::int64_t> strides,
                              std::span<const std::int64_t> shape, DType result);

/// All of them, in order.
void check_views(Operands operands, const Destination& destination,
                 std::span<const std::int64_t> shape, DType result);

/// What a prepared plan checks at every run: bounds of operands and destination, and overlap.
void check_addresses(Operands operands, std::span<const Reach> reaches,
                     const Destination& destination, const Reach& destination_reach);

}  // namespace einjit
