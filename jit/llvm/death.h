// The jit after an exception has escaped from LLVM: dead, for the rest of the process.
//
// LLVM is built without exceptions. One that passes through it (there is one kind: out of memory)
// runs none of its destructors, so locks may stay held and objects half made. From then on nothing
// of ours enters LLVM in this process: no compilation, no loading, and no destructor either. What
// LLVM objects hold is left where it is; kernels already loaded keep running.
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <utility>

namespace einjit::jit {

bool is_dead();
void declare_dead() noexcept;

/// Owner of an LLVM object that is not destroyed while an exception passes.
template <class T>
class Fragile {
 public:
  template <class... A>
  explicit Fragile(A&&... arguments) {
    ::new (static_cast<void*>(bytes_)) T(std::forward<A>(arguments)...);
  }
  Fragile(const Fragile&) = delete;
  Fragile& operator=(const Fragile&) = delete;
  ~Fragile() {
    if (std::uncaught_exceptions() == exceptions_) (*this)->~T();
  }
  T& operator*() { return *std::launder(reinterpret_cast<T*>(bytes_)); }
  T* operator->() { return &**this; }

 private:
  alignas(T) std::byte bytes_[sizeof(T)];
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace einjit::jit
