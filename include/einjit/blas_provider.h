// A BLAS of the caller's own: gemm as function pointers, registered with an Engine at run time.
//
// The pointers are Fortran's gemm, everything by pointer, with 32-bit (LP64) or 64-bit (ILP64)
// integers. They must not throw, and must stay callable as long as any plan prepared with them
// lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace einjit {

/// The address of a Fortran routine, whatever its C++ type. nullptr: there is none.
class FortranRoutine {
 public:
  using Address = void (*)();
  FortranRoutine() = default;
  FortranRoutine(std::nullptr_t) {}
  FortranRoutine(Address address) : address_(address) {}  // as a loader gives it
  /// (transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), and perhaps the lengths of the
  /// two strings, which C code leaves out.
  template <class... A>
    requires(sizeof...(A) == 13 || sizeof...(A) == 15)
  FortranRoutine(void (*routine)(A...)) : address_(reinterpret_cast<Address>(routine)) {}
  Address address() const { return address_; }

 private:
  Address address_ = nullptr;
};

struct BlasProvider {
  std::string name;                           // for traces of failures and Machine::blas_name
  FortranRoutine sgemm, dgemm, cgemm, zgemm;  // each optional, one at least
  std::int32_t integer_bits = 32;             // 32 (LP64) or 64 (ILP64)
  /// With beta = 0 nothing depends on what C held: promised for every size, not only for those that
  /// the self-test can try. Without the promise no uninitialized storage is given to it.
  bool ignores_old_content = false;
  /// May be called from several threads at once. Otherwise one call is made at a time.
  bool thread_safe = false;
  /// Multiply-adds of dgemm, one thread, large sizes: what the planner compares with. 0: as a good
  /// BLAS has on this CPU.
  double flops_per_second = 0;
};

}  // namespace einjit
