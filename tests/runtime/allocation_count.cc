// The operator new of the tests of this room.
#include "tests/allocation_count.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> allocations{0};
std::atomic<const std::function<bool()>*> watch{nullptr};

void* counted(std::size_t bytes, std::size_t alignment) noexcept {
  if (const auto* counts = watch.load(); counts != nullptr && (*counts)()) ++allocations;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* counted_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const p = counted(bytes, alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

// Out of line, so that no compiler pairs a delete it sees with a new it does not.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted_or_throw(bytes, 1); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted_or_throw(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes, 1);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}

namespace einjit {

AllocationWatch::AllocationWatch(std::function<bool()> counts) {
  allocations = 0;
  watch = new std::function<bool()>(std::move(counts));
}
AllocationWatch::~AllocationWatch() { delete watch.exchange(nullptr); }
std::int64_t AllocationWatch::count() const { return allocations; }

}  // namespace einjit
