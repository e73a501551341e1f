// What valgrind's memcheck is told about storage without a value. Nothing where it does not run.
#pragma once

#include <cstddef>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif

namespace einjit {

#ifdef RUNNING_ON_VALGRIND
inline bool runs_under_memcheck() { return RUNNING_ON_VALGRIND != 0; }
inline void mark_undefined(std::byte* at, std::size_t bytes) {
  if (bytes > 0) (void)VALGRIND_MAKE_MEM_UNDEFINED(at, bytes);
}
inline void mark_defined(std::byte* at, std::size_t bytes) {
  if (bytes > 0) (void)VALGRIND_MAKE_MEM_DEFINED(at, bytes);
}
inline bool is_defined(const std::byte* at, std::size_t bytes) {
  return VALGRIND_CHECK_MEM_IS_DEFINED(at, bytes) == 0;
}
#else
inline bool runs_under_memcheck() { return false; }
inline void mark_undefined(std::byte*, std::size_t) {}
inline void mark_defined(std::byte*, std::size_t) {}
inline bool is_defined(const std::byte*, std::size_t) { return true; }
#endif

}  // namespace einjit
