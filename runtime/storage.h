// Aligned raw storage: the only place of the runtime that asks the heap for tensor memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "einjit/view.h"

namespace einjit {

inline constexpr std::size_t kStorageAlignment = 64;

struct StorageFree {
  void operator()(std::byte* p) const noexcept;
};
using Storage = std::unique_ptr<std::byte[], StorageFree>;

/// Throws Error{out_of_memory} naming the number of bytes.
Storage allocate_storage(std::size_t bytes);

/// Elements of a tensor; throws size_overflow where they have more than 2^63 bytes.
std::int64_t checked_elements(std::span<const std::int64_t> extents, DType type);

}  // namespace einjit
