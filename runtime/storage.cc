// Aligned raw storage.
#include "runtime/storage.h"

#include <algorithm>
#include <new>
#include <string>

#include "einjit/error.h"

namespace einjit {

void StorageFree::operator()(std::byte* p) const noexcept {
  ::operator delete[](p, std::align_val_t{kStorageAlignment});
}

Storage allocate_storage(std::size_t bytes) {
  void* p = ::operator new[](std::max<std::size_t>(bytes, 1), std::align_val_t{kStorageAlignment},
                             std::nothrow);
  if (p == nullptr)
    with_typed_memory_errors([&] {  // the sentence may find no memory either
      throw Error(ErrorCode::out_of_memory,
                  "no memory for a tensor of " + std::to_string(bytes) + " bytes");
    });
  return Storage(static_cast<std::byte*>(p));
}

std::int64_t checked_elements(std::span<const std::int64_t> extents, DType type) {
  std::int64_t elements = 1, bytes = 0;
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  bool fits = true;
  for (const std::int64_t e : extents)
    fits = fits && e >= 0 && !__builtin_mul_overflow(elements, e, &elements);
  if (!fits ||
      __builtin_mul_overflow(elements, static_cast<std::int64_t>(size_bytes(type)), &bytes))
    throw Error(ErrorCode::size_overflow,
                "a tensor of " + std::to_string(extents.size()) + " axes has more than 2^63 bytes");
  return elements;
}

}  // namespace einjit
