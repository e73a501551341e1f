// A shared library with a Fortran BLAS, opened by path and tested before it is trusted.
//
// path ─open→ BlasLibrary: the routines that BlasForm names, for 32-bit integers. It is never
// closed: a BLAS keeps threads and thread-local buffers of its own that must not lose their code.
// Whoever calls a routine holds a BlasLibrary::Call for as long as the call lasts: exit() waits for
// it, and where the library is not known to be safe to call from several threads at once it is the
// only one.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "einjit/dtype.h"
#include "runtime/exit_gate.h"

namespace einjit {

/// Fortran's calling convention: all by pointer, the lengths of strings at the end.
struct BlasRoutines {
  using Gemm = void (*)(const char* trans_a, const char* trans_b, const int* m, const int* n,
                        const int* k, const void* alpha, const void* a, const int* lda,
                        const void* b, const int* ldb, const void* beta, void* c, const int* ldc,
                        std::size_t, std::size_t);
  using Gemv = void (*)(const char* trans, const int* rows, const int* columns, const void* alpha,
                        const void* a, const int* lda, const void* x, const int* incx,
                        const void* beta, void* y, const int* incy, std::size_t);
  using DotF32 = float (*)(const int* n, const float* x, const int* incx, const float* y,
                           const int* incy);
  using DotF64 = double (*)(const int* n, const double* x, const int* incx, const double* y,
                            const int* incy);
  std::array<Gemm, 4> gemm{};  // indexed by DType
  std::array<Gemv, 4> gemv{};
  DotF32 dot_f32 = nullptr;
  DotF64 dot_f64 = nullptr;
};

class BlasLibrary {
 public:
  /// Throws backend_failure naming the path and what the loader, a missing symbol or the self-test
  /// said.
  static std::unique_ptr<BlasLibrary> open(const std::string& path);

  const BlasRoutines& routines() const { return routines_; }
  const std::string& path() const { return path_; }
  const std::string& core_name() const { return core_name_; }  // "" if the library does not say
  bool is_thread_safe() const { return thread_safe_; }
  /// For people: what it is, its core type, how it was built, where it lies.
  std::string describe() const;

  class Call {
   public:
    explicit Call(const BlasLibrary& library) {
      if (!library.thread_safe_) lock_ = std::unique_lock(library.calls_);
    }

   private:
    ExitGate gate_;
    std::unique_lock<std::mutex> lock_;
  };

 private:
  explicit BlasLibrary(std::string path) : path_(std::move(path)) {}
  void find_routines(void* handle);
  void ask_about_itself(void* handle);
  void self_test() const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_, kind_, configuration_, core_name_;
  int parallel_ = -1;  // openblas_get_parallel(): 0 serial, 1 own threads, 2 OpenMP
  bool thread_safe_ = false;
  BlasRoutines routines_;
  mutable std::mutex calls_;
};

}  // namespace einjit
