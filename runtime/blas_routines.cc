// Calls by pointer for either width of integers.
#include "runtime/blas_routines.h"

#include <bit>
#include <cstddef>

namespace einjit {
namespace {

static_assert(std::endian::native == std::endian::little, "LP64 code reads the low half first");
using Integer = std::int64_t;
using Gemm = void (*)(const char*, const char*, const Integer*, const Integer*, const Integer*,
                      const void*, const void*, const Integer*, const void*, const Integer*,
                      const void*, void*, const Integer*, std::size_t, std::size_t);
using Gemv = void (*)(const char*, const Integer*, const Integer*, const void*, const void*,
                      const Integer*, const void*, const Integer*, const void*, void*,
                      const Integer*, std::size_t);
template <class R>
using Dot = R (*)(const Integer*, const R*, const Integer*, const R*, const Integer*);

template <class F>
F as(const std::array<BlasRoutines::Address, 4>& routines, DType type) {
  return reinterpret_cast<F>(routines[static_cast<std::size_t>(type)]);
}

}  // namespace

void BlasRoutines::call_gemm(DType type, const BlasCall& c) const {
  as<Gemm>(gemm, type)(&c.trans_a, &c.trans_b, &c.m, &c.n, &c.k, c.alpha, c.a, &c.lda, c.b, &c.ldb,
                       c.beta, c.c, &c.ldc, 1, 1);
}

void BlasRoutines::call_gemv(DType type, const BlasCall& c) const {
  as<Gemv>(gemv, type)(&c.trans_a, &c.m, &c.n, c.alpha, c.a, &c.lda, c.b, &c.ldb, c.beta, c.c,
                       &c.ldc, 1);
}

float BlasRoutines::call_dot(Integer n, const float* x, Integer incx, const float* y,
                             Integer incy) const {
  return as<Dot<float>>(dot, DType::f32)(&n, x, &incx, y, &incy);
}
double BlasRoutines::call_dot(Integer n, const double* x, Integer incx, const double* y,
                              Integer incy) const {
  return as<Dot<double>>(dot, DType::f64)(&n, x, &incx, y, &incy);
}

std::string routine_name(DType type, const char* routine) {
  return "sdcz"[static_cast<std::size_t>(type)] + std::string(routine);
}

}  // namespace einjit
