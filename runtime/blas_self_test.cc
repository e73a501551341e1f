// What einjit relies on, tried on every routine before it is trusted (CONTRACTS §1).
//
// Operands are outer products of small integers, op(A)(i,l) = u(i)·p(l) and op(B)(l,j) = q(l)·x(j),
// so that every element of the result, u(i)·x(j)·Σ p·q, is known without a product of our own,
// exact in f32, and moves if rows and columns, or one operand's, are mistaken for each other.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "runtime/blas_routines.h"

namespace einjit {
namespace {

constexpr std::int64_t kGap = 3;  // elements after a column
struct Size {
  std::int64_t m, n, k;
  /// Elements of every buffer: a routine that takes m for n stays inside.
  std::size_t room() const {
    return static_cast<std::size_t>((std::max(m, n) + kGap) * (k + kGap));
  }
};
constexpr Size kSmall{5, 3, 7}, kBlocked{130, 70, 300};  // one tile, and several

template <class T>
T number(std::int64_t re, [[maybe_unused]] std::int64_t im) {
  if constexpr (is_complex(dtype_of<T>)) {
    using R = typename T::value_type;
    return {static_cast<R>(re), static_cast<R>(im)};
  } else {
    return static_cast<T>(re);
  }
}
template <class T>
T factor(std::int64_t i, std::int64_t salt) {
  return number<T>(1 + (i * 3 + salt) % 5, (i + salt) % 2);
}
template <class T>
T conjugate(T x) {
  if constexpr (is_complex(dtype_of<T>)) return std::conj(x);
  return x;
}
template <class T>
T nan() {
  const double q = std::numeric_limits<double>::quiet_NaN();
  if constexpr (is_complex(dtype_of<T>))
    return {static_cast<typename T::value_type>(q), static_cast<typename T::value_type>(q)};
  else
    return static_cast<T>(q);
}

/// A matrix as gemm stores it, so that op(it)(r,c) = row(r)·column(c); gaps are NaN.
template <class T>
struct Stored {
  Stored(Size size, char trans, std::int64_t rows, std::int64_t columns, std::int64_t row_salt,
         std::int64_t column_salt)
      : ld((trans == 'N' ? rows : columns) + kGap), values(size.room(), nan<T>()) {
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c) {
        const T x = factor<T>(r, row_salt) * factor<T>(c, column_salt);
        values[static_cast<std::size_t>(trans == 'N' ? r + c * ld : c + r * ld)] =
            trans == 'C' ? conjugate(x) : x;
      }
  }
  std::int64_t ld;
  std::vector<T> values;
};

template <class T>
T contracted_sum(std::int64_t k) {
  T sum{};
  for (std::int64_t l = 0; l < k; ++l) sum += factor<T>(l, 2) * factor<T>(l, 3);
  return sum;
}

/// The n columns of m elements, ld apart, are what they should be; the rest has its old bits.
template <class T, class Right>
bool is_right(const std::vector<T>& c, const std::vector<T>& before, std::int64_t m, std::int64_t n,
              std::int64_t ld, Right&& right) {
  for (std::size_t at = 0; at < c.size(); ++at) {
    const auto i = static_cast<std::int64_t>(at) % ld, j = static_cast<std::int64_t>(at) / ld;
    if (i < m && j < n ? c[at] != right(i, j) : std::memcmp(&c[at], &before[at], sizeof(T)) != 0)
      return false;
  }
  return true;
}

template <class T>
bool gemm_is_right(const BlasRoutines& routines, Size size, char trans_a, char trans_b, bool adds) {
  const auto [m, n, k] = size;
  const Stored<T> a(size, trans_a, m, k, 1, 2), b(size, trans_b, k, n, 3, 4);
  const T alpha = adds ? number<T>(2, 1) : number<T>(1, 0), beta = number<T>(adds ? 3 : 0, 0);
  const std::int64_t ldc = m + kGap;
  std::vector<T> c(size.room(), adds ? number<T>(7, 2) : nan<T>());
  const std::vector<T> before = c;
  routines.call_gemm(dtype_of<T>, {trans_a, trans_b, m, n, k, &alpha, a.values.data(), a.ld,
                                   b.values.data(), b.ld, &beta, c.data(), ldc});
  const T sum = contracted_sum<T>(k);
  return is_right(c, before, m, n, ldc, [&](std::int64_t i, std::int64_t j) {
    const T product = factor<T>(i, 1) * factor<T>(j, 4) * sum;
    return adds ? alpha * product + beta * number<T>(7, 2) : product;
  });
}

/// Into every (1 + kGap)-th element.
template <class T>
bool gemv_is_right(const BlasRoutines& routines, Size size) {
  const auto [m, n, k] = size;
  const Stored<T> a(size, 'N', m, k, 1, 2), x(size, 'N', k, 1, 3, 4);
  const T alpha = number<T>(1, 0), beta{};
  std::vector<T> y(size.room(), nan<T>());
  const std::vector<T> before = y;
  routines.call_gemv(dtype_of<T>, {'N', 'N', m, k, 1, &alpha, a.values.data(), a.ld,
                                   x.values.data(), 1, &beta, y.data(), 1 + kGap});
  const T sum = contracted_sum<T>(k) * factor<T>(0, 4);
  return is_right(y, before, 1, m, 1 + kGap,
                  [&](std::int64_t, std::int64_t i) { return factor<T>(i, 1) * sum; });
}

std::string fault(DType type, const char* routine, Size size, const std::string& how) {
  return routine_name(type, routine) + " of m = " + std::to_string(size.m) +
         ", n = " + std::to_string(size.n) + ", k = " + std::to_string(size.k) + how;
}

template <class T>
std::string test_type(const BlasRoutines& routines) {
  constexpr DType type = dtype_of<T>;
  const std::string overwrites =
      " into a NaN-filled result with gaps at beta = 0 is wrong: it reads what it should only "
      "write, leaves elements unwritten, writes between columns, or computes something else";
  if (BlasRoutines::has(routines.gemm, type)) {
    for (const char a : {'N', 'T', 'C'})
      for (const char b : {'N', 'T', 'C'}) {
        const std::string trans = std::string(", trans ") + a + b + ",";
        if (!gemm_is_right<T>(routines, kSmall, a, b, false))
          return fault(type, "gemm", kSmall, trans + overwrites);
        if (!gemm_is_right<T>(routines, kSmall, a, b, true))
          return fault(type, "gemm", kSmall, trans + " adding to an initialized result is wrong");
      }
    if (!gemm_is_right<T>(routines, kBlocked, 'N', 'N', false))
      return fault(type, "gemm", kBlocked, overwrites);
  }
  if (BlasRoutines::has(routines.gemv, type))
    for (const Size size : {kSmall, kBlocked})
      if (!gemv_is_right<T>(routines, size)) return fault(type, "gemv", size, overwrites);
  return {};
}

}  // namespace

std::string self_test(const BlasRoutines& routines) {
  for (const auto& test : {test_type<float>, test_type<double>, test_type<c64>, test_type<c128>})
    if (std::string found = test(routines); !found.empty()) return found;
  return {};
}

}  // namespace einjit
