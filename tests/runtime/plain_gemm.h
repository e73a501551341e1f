// gemm as three loops, by Fortran's convention, right or wrong in a chosen way.
#pragma once

#include <complex>
#include <type_traits>

namespace einjit::testing {

enum class GemmFault {
  none,
  reads_c,       // C = A·B + beta·C, also where beta is 0
  leaves_row,    // the last row of C is not written
  writes_gap,    // one element after each column
  swaps_m_and_n  // takes one for the other
};

template <class T>
T conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x;
  else
    return std::conj(x);
}

template <class T, class Integer, GemmFault fault = GemmFault::none>
void plain_gemm(const char* trans_a, const char* trans_b, const Integer* m, const Integer* n,
                const Integer* k, const T* alpha, const T* a, const Integer* lda, const T* b,
                const Integer* ldb, const T* beta, T* c, const Integer* ldc) {
  const auto element = [](const char* trans, const T* x, Integer ld, Integer row, Integer column) {
    if (*trans == 'N') return x[row + column * ld];
    const T found = x[column + row * ld];
    return *trans == 'C' ? conjugate(found) : found;
  };
  constexpr bool swaps = fault == GemmFault::swaps_m_and_n;
  const Integer rows = swaps ? *n : *m - (fault == GemmFault::leaves_row ? 1 : 0);
  const Integer columns = swaps ? *m : *n;
  for (Integer j = 0; j < columns; ++j) {
    for (Integer i = 0; i < rows; ++i) {
      T sum{};
      for (Integer l = 0; l < *k; ++l)
        sum += element(trans_a, a, *lda, i, l) * element(trans_b, b, *ldb, l, j);
      T& to = c[i + j * *ldc];
      const bool overwrites = *beta == T() && fault != GemmFault::reads_c;
      to = overwrites ? *alpha * sum : *alpha * sum + *beta * to;
    }
    if (fault == GemmFault::writes_gap && *ldc > *m) c[*m + j * *ldc] = T();
  }
}

}  // namespace einjit::testing
