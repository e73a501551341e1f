// A shared library with the gemms of an ILP64 BLAS whose names end in "64_".
#include <cstdint>

#include "tests/runtime/plain_gemm.h"

#define GEMM(NAME, T)                                                                            \
  extern "C" void NAME(const char* trans_a, const char* trans_b, const std::int64_t* m,          \
                       const std::int64_t* n, const std::int64_t* k, const T* alpha, const T* a, \
                       const std::int64_t* lda, const T* b, const std::int64_t* ldb,             \
                       const T* beta, T* c, const std::int64_t* ldc) {                           \
    einjit::testing::plain_gemm(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); \
  }
GEMM(sgemm64_, float)
GEMM(dgemm64_, double)
GEMM(cgemm64_, std::complex<float>)
GEMM(zgemm64_, std::complex<double>)
