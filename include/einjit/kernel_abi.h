// The argument block of every compiled kernel: all run-time facts, by value or by pointer.
//
// Compiled code knows this layout by offset (static_asserts below). All strides and table entries
// are in bytes, so that the block is the same for every element type. A group's index space is
// outer × middle × inner; the address of tensor t at (o, m, i) is
//     base[t] + outer_table[3·o + t] + middle_table[3·m + t] + i · stride[t].
// An absent group has counts 1, 1, 1. Kernels of a group that is not tabled never read its tables
// (they may be null, with counts 1, 1). No count is ever 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace einjit {

struct GroupArgs {
  std::int64_t outer = 1;
  std::int64_t middle = 1;
  std::int64_t inner = 1;
  const std::int64_t* outer_table = nullptr;   // 3 · outer byte offsets: a, b, c of each entry
  const std::int64_t* middle_table = nullptr;  // 3 · middle byte offsets
  std::array<std::int64_t, 3> stride{};        // bytes, of the inner axis, in a, b, c
};

struct KernelArgs {
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::byte* c = nullptr;
  std::array<double, 2> alpha{1, 0};  // re, im; of the compute type, kept as doubles
  std::array<double, 2> beta{0, 0};
  std::array<GroupArgs, 4> groups{};  // batch, left, right, contracted
};

static_assert(sizeof(GroupArgs) == 64 && offsetof(GroupArgs, outer_table) == 24 &&
              offsetof(GroupArgs, stride) == 40);
static_assert(sizeof(KernelArgs) == 56 + 4 * 64 && offsetof(KernelArgs, groups) == 56);

/// A compiled kernel: never throws, never blocks, returns when every element of c is written.
using KernelEntry = void (*)(const KernelArgs*) noexcept;

}  // namespace einjit
