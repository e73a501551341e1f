// Memory between two pages that nothing may touch: the first access outside it stops the process.
//
// The bytes end where the upper guard begins, or begin where the lower guard ends; CONTRACTS §1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace einjit {

enum class GuardedSide : std::uint8_t { begin, end };

class GuardedPages {
 public:
  /// Zeros. Throws Error{out_of_memory}.
  GuardedPages(std::size_t bytes, GuardedSide side);
  GuardedPages(GuardedPages&& other) noexcept
      : mapping_(std::exchange(other.mapping_, nullptr)),
        mapped_bytes_(other.mapped_bytes_),
        data_(other.data_) {}
  GuardedPages& operator=(GuardedPages&&) = delete;
  ~GuardedPages();

  std::byte* data() const { return data_; }

 private:
  std::byte* mapping_;
  std::size_t mapped_bytes_;
  std::byte* data_;
};

}  // namespace einjit
