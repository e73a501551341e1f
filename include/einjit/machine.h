// What the planner knows of the computer: a value, made by the runtime or read from text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace einjit {

struct Machine {
  std::string target_cpu = "x86-64";  // LLVM's name of the code generator's target
  std::int32_t vector_bytes = 16;     // 64 with AVX-512, 32 with AVX2
  bool blas_available =
      false;              // a BLAS can be opened; which one, and with which kernels, is its name
  std::string blas_name;  // e.g. "OpenBLAS SKYLAKEX"
  double jit_flops_per_second = 2e10;  // multiply-adds of our kernels, f64, one thread, large steps
  double blas_flops_per_second = 3e10;    // multiply-adds of gemm, f64, one thread, large steps
  double memory_bytes_per_second = 1e10;  // one thread
  double step_seconds = 3e-8;             // fixed cost of one of our steps
  double blas_call_seconds = 1.5e-7;      // fixed cost of one BLAS call
  std::int64_t l1_bytes = 32 << 10;
  std::int64_t l2_bytes = 1 << 20;
  bool operator==(const Machine&) const = default;
};

/// One "key value" a line; reads back. Throws corrupt_file.
std::string to_text(const Machine& machine);
Machine parse_machine(std::string_view text);

}  // namespace einjit
