// One mapping: a PROT_NONE page, the bytes' own pages, a PROT_NONE page.
#include "tools/guarded_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "einjit/error.h"

namespace einjit {

GuardedPages::GuardedPages(std::size_t bytes, GuardedSide side) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t inside = (bytes + page - 1) / page * page;
  mapped_bytes_ = inside + 2 * page;
  void* const all =
      mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED)
    throw Error(ErrorCode::out_of_memory,
                "no address space for " + std::to_string(mapped_bytes_) + " guarded bytes");
  mapping_ = static_cast<std::byte*>(all);
  std::byte* const first = mapping_ + page;
  if (inside > 0 && mprotect(first, inside, PROT_READ | PROT_WRITE) != 0) {
    munmap(all, mapped_bytes_);
    throw Error(ErrorCode::out_of_memory,
                "no memory for " + std::to_string(inside) + " guarded bytes");
  }
  data_ = side == GuardedSide::begin ? first : first + (inside - bytes);
}

GuardedPages::~GuardedPages() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
}

}  // namespace einjit
