// Turns std::bad_alloc into a typed error, at every public entry.
#pragma once

#include <new>
#include <utility>

#include "einjit/error.h"

namespace einjit {

template <class F>
decltype(auto) with_typed_memory_errors(F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "the heap has no memory left for this call");
  }
}

}  // namespace einjit
