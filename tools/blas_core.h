// Which kernels OpenBLAS takes: chosen before anything opens it.
//
// OpenBLAS reads OPENBLAS_CORETYPE in its constructor, and on CPUs younger than itself takes SSE3
// kernels. Programs call choose_blas_core() first thing in main; a value that the user set is never
// changed.
#pragma once

#include <cstdlib>
#include <string_view>

namespace einjit {

/// The core type that suits this CPU; empty where OpenBLAS's own choice is as good.
inline std::string_view suitable_blas_core() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    return "SKYLAKEX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "HASWELL";
#endif
  return {};
}

inline void choose_blas_core() {
  const std::string_view core = suitable_blas_core();
  if (!core.empty()) setenv("OPENBLAS_CORETYPE", core.data(), 0);
}

}  // namespace einjit
