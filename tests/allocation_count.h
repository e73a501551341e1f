// Counts allocations of this program: the tests' operator new reports to it.
#pragma once

#include <cstdint>
#include <functional>

namespace einjit {

/// Counts the allocations that any thread makes while it lives and `counts()` holds on that thread.
class AllocationWatch {
 public:
  explicit AllocationWatch(std::function<bool()> counts);
  ~AllocationWatch();
  AllocationWatch(const AllocationWatch&) = delete;
  AllocationWatch& operator=(const AllocationWatch&) = delete;
  std::int64_t count() const;
};

}  // namespace einjit
