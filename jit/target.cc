// Targets by name, and the one that this CPU reaches.
#include "einjit/error.h"
#include "jit/compiler.h"

namespace einjit::jit {
namespace {

struct Row {
  std::string_view cpu;
  std::int32_t vector_bytes;
};
constexpr Row kTargets[] = {
    {"x86-64", 16},         {"x86-64-v3", 32}, {"haswell", 32},        {"skylake", 32},
    {"znver3", 32},         {"x86-64-v4", 64}, {"skylake-avx512", 64}, {"icelake-server", 64},
    {"sapphirerapids", 64}, {"znver4", 64},
};

}  // namespace

Target target_named(std::string_view cpu) {
  std::string known;
  for (const Row& row : kTargets) {
    if (row.cpu == cpu) return {std::string(cpu), row.vector_bytes};
    known += (known.empty() ? "" : ", ") + std::string(row.cpu);
  }
  throw Error(ErrorCode::invalid_argument,
              "no code generator target is named '" + std::string(cpu) + "'; there are: " + known);
}

std::string_view host_cpu_name() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return "skylake-avx512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "haswell";
  return "x86-64";
}

}  // namespace einjit::jit
