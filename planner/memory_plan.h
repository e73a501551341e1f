// Where intermediates lie: lifetimes in waves → arena offsets.
#pragma once

#include "einjit/plan.h"

namespace einjit {

inline constexpr std::int64_t kArenaAlignment = 64;  // a cache line, and the widest vector

/// Gives every step its wave: consecutive steps that need nothing of one another and are small may
/// run side by side.
void assign_waves(Plan& plan);

/// Sets arena_offset of every intermediate and plan.arena_bytes. Tensors that live in one wave
/// never overlap. Best fit: the smallest gap that holds the tensor.
void assign_offsets(Plan& plan);

}  // namespace einjit
