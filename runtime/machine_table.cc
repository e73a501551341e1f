// Machines by CPU features: what the planner knows where nobody has measured.
//
// The rates are rough figures read off one machine of each kind, f64, one thread; they only have to
// order alternatives. Nothing is measured or opened here: a BLAS is there if its file is.
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "runtime/backends.h"
#include "runtime/engine_impl.h"

namespace einjit {
namespace {

struct Row {
  std::int32_t vector_bytes;    // at least
  double jit_flops_per_second;  // multiply-adds
  double blas_flops_per_second;
};
constexpr Row kRows[] = {{64, 1.6e10, 3e10}, {32, 1e10, 1.5e10}, {0, 2e9, 4.5e9}};

/// gemm's rate with the SSE3 kernels ("Prescott") that Debian 12's OpenBLAS takes on the CPUs with
/// AVX-512 that it does not know, unless OPENBLAS_CORETYPE names a core.
constexpr double kPrescottRate = 4.5e9;

const Row& row_of(std::int32_t vector_bytes) {
  const Row* row = kRows;
  while (row->vector_bytes > vector_bytes) ++row;
  return *row;
}

std::int64_t cache_bytes(int name, std::int64_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

}  // namespace

Machine machine_from_table(const EngineOptions& options) {
  if (options.machine) return *options.machine;
  Machine m;
  const char* forced = std::getenv("EINJIT_TARGET_CPU");
  m.target_cpu = !options.target_cpu.empty() ? options.target_cpu
                 : forced != nullptr         ? std::string(forced)
                                             : std::string(jit::host_cpu_name());
  m.vector_bytes = jit::target_named(m.target_cpu).vector_bytes;
  m.jit_flops_per_second = row_of(m.vector_bytes).jit_flops_per_second;
  const std::string library = options.blas_path.empty() ? kDebianOpenBlas : options.blas_path;
  m.blas_available = access(library.c_str(), R_OK) == 0;
  if (m.blas_available) {
    const char* core = std::getenv("OPENBLAS_CORETYPE");
    const std::int32_t host = jit::target_named(jit::host_cpu_name()).vector_bytes;
    m.blas_name = library + (core != nullptr ? std::string(" ") + core : "");
    m.blas_flops_per_second =
        core == nullptr && host >= 64 ? kPrescottRate : row_of(host).blas_flops_per_second;
  }
  m.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, m.l1_bytes);
  m.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, m.l2_bytes);
  return m;
}

Machine machine_with_blas(Machine machine, const EngineOptions& options,
                          const BlasProvider& provider, const std::string& name) {
  machine.blas_available = true;
  machine.blas_name = name;
  if (provider.flops_per_second > 0)
    machine.blas_flops_per_second = provider.flops_per_second;
  else if (!options.machine)
    machine.blas_flops_per_second =
        row_of(jit::target_named(jit::host_cpu_name()).vector_bytes).blas_flops_per_second;
  return machine;
}

}  // namespace einjit
