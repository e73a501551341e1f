// ThreadSanitizer and compiled kernels: EINJIT_JIT_TSAN is defined by the preset "tsan" only.
//
// Kernels get ThreadSanitizer's calls for every access: masked accesses, gathers and scatters
// become conditional accesses of single elements, and whatever is wider than 16 bytes is cut into
// pieces of 16, since wider ones would stay uninstrumented. Loop nests, tiles and bits are those of
// every other build. LLVM itself is not instrumented: it runs under one lock, and its accesses are
// ignored.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#ifdef EINJIT_JIT_TSAN
#include <mutex>
#endif

namespace einjit::jit {

#ifdef EINJIT_JIT_TSAN
inline constexpr bool kThreadSanitizer = true;
void instrument(llvm::Function& function, llvm::TargetMachine& machine);

/// While it lives this thread is inside LLVM, alone, unseen by ThreadSanitizer. May be nested.
class InsideLlvm {
 public:
  InsideLlvm();
  ~InsideLlvm();
  InsideLlvm(const InsideLlvm&) = delete;
  InsideLlvm& operator=(const InsideLlvm&) = delete;
};
#else
inline constexpr bool kThreadSanitizer = false;
inline void instrument(llvm::Function&, llvm::TargetMachine&) {}
struct InsideLlvm {
  InsideLlvm() {}  // not trivial, so that an unused one is no warning
};
#endif

}  // namespace einjit::jit
