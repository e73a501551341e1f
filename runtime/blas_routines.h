// The table of BLAS routines, loaded or registered, and the one place that calls them.
//
// Every call is Fortran's: all by pointer, the lengths of strings at the end. Integers are passed
// as 64-bit variables: ILP64 code reads all of one, LP64 code its low half, which is all of it
// since no value passes largest().
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "einjit/dtype.h"

namespace einjit {

/// One gemm or gemv. Scalars are of the elements' type. gemv: m × n is the stored matrix, b and c
/// the vectors, ldb and ldc their strides; k and trans_b mean nothing.
struct BlasCall {
  char trans_a = 'N', trans_b = 'N';
  std::int64_t m = 1, n = 1, k = 1;
  const void *alpha = nullptr, *a = nullptr;
  std::int64_t lda = 1;
  const void* b = nullptr;
  std::int64_t ldb = 1;
  const void* beta = nullptr;
  void* c = nullptr;
  std::int64_t ldc = 1;
};

struct BlasRoutines {
  using Address = void (*)();
  std::array<Address, 4> gemm{}, gemv{}, dot{};  // by DType; null: there is none
  std::int32_t integer_bits = 32;

  static bool has(const std::array<Address, 4>& routines, DType type) {
    return routines[static_cast<std::size_t>(type)] != nullptr;
  }
  std::int64_t largest() const {
    return integer_bits == 64 ? std::numeric_limits<std::int64_t>::max() : 0x7fffffff;
  }
  void call_gemm(DType type, const BlasCall& call) const;
  void call_gemv(DType type, const BlasCall& call) const;
  float call_dot(std::int64_t n, const float* x, std::int64_t incx, const float* y,
                 std::int64_t incy) const;
  double call_dot(std::int64_t n, const double* x, std::int64_t incx, const double* y,
                  std::int64_t incy) const;
};

/// Every gemm and gemv of the table on exact integers, in small and blocked sizes: with beta = 0
/// over a result full of NaN and with gaps after its columns, whose bits must stay. The first
/// fault as a sentence; empty if there is none.
std::string self_test(const BlasRoutines& routines);

/// "sgemm", "zgemv", …
std::string routine_name(DType type, const char* routine);

}  // namespace einjit
