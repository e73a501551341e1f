// BLAS or our own loops for a step: by the time that the Machine's rates predict.
#include <algorithm>

#include "einjit/error.h"
#include "planner/kernel_choice.h"

namespace einjit {
namespace {

constexpr std::string_view kBackends[] = {"auto", "reference", "jit", "jit!", "blas", "blas!"};

// How much slower than its best our kernels run where the vector axis is not contiguous everywhere
// (gathers), or there is none: read off the first kernels on one AVX-512 machine.
constexpr double kGatherFactor = 6;

double speed_of_type(DType t) {
  // Against f64: f32 twice as fast, a complex multiply-add four times the work.
  return (is_double(t) ? 1.0 : 2.0) / (is_complex(t) ? 4.0 : 1.0);
}

bool is_contiguous(const KernelSpec& kernel) {
  for (const AxisGroup g : {AxisGroup::batch, AxisGroup::left, AxisGroup::right}) {
    const GroupSpec& group = kernel.group(g);
    if (group.present && group.strides[kC] == StrideClass::unit &&
        group.strides[kA] != StrideClass::runtime &&
        (kernel.unary || group.strides[kB] != StrideClass::runtime))
      return true;
  }
  const GroupSpec& k = kernel.group(AxisGroup::contracted);
  return k.present && kernel.sum_order.lanes > 1 && k.strides[kA] == StrideClass::unit &&
         (kernel.unary || k.strides[kB] == StrideClass::unit);
}

double memory_seconds(const Step& step, const Machine& machine) {
  return step.bytes / machine.memory_bytes_per_second;
}

double jit_seconds(const Step& step, const Machine& machine) {
  const double rate = machine.jit_flops_per_second * speed_of_type(step.kernel.compute) /
                      (is_contiguous(step.kernel) ? 1 : kGatherFactor);
  return machine.step_seconds + std::max(step.flops / rate, memory_seconds(step, machine));
}

double blas_seconds(const Step& step, const Machine& machine) {
  double calls = 1;
  for (const StepAxis& axis : step.blas->batch) calls *= static_cast<double>(axis.extent);
  const double rate = machine.blas_flops_per_second * speed_of_type(step.kernel.compute);
  return calls * machine.blas_call_seconds +
         std::max(step.flops / rate, memory_seconds(step, machine));
}

[[noreturn]] void refuse_blas(const Step& step, std::size_t number, const PlanOptions& options,
                              const Machine& machine) {
  const std::string why = options.accuracy == Accuracy::strict ? "strict accuracy excludes BLAS"
                          : !machine.blas_available            ? "no BLAS is available"
                                                               : "it is no gemm, gemv or dot";
  throw Error(ErrorCode::unsupported, "backend 'blas!' cannot run step " + std::to_string(number) +
                                          " (" + to_text(step.kernel) + "): " + why +
                                          "; 'blas' without the mark falls back to compiled loops");
}

}  // namespace

void require_backend(std::string_view name) {
  std::string known;
  for (const std::string_view backend : kBackends) {
    if (backend == name) return;
    known += (known.empty() ? "" : ", ") + std::string(backend);
  }
  throw Error(ErrorCode::invalid_argument,
              "no backend is named '" + std::string(name) + "'; there are: " + known);
}

void choose_backend(Step& step, std::size_t number, const PlanOptions& options,
                    const Machine& machine) {
  const std::string& wanted = options.backend;
  if (step.kind != StepKind::contract) {
    step.backend = "fill";
    step.predicted_seconds = memory_seconds(step, machine);
    return;
  }
  step.predicted_seconds = jit_seconds(step, machine);
  if (wanted == "reference") {
    step.backend = "reference";
    return;
  }
  step.backend = "jit";
  if (wanted == "jit!") return;
  step.fallbacks = {"reference"};
  if (wanted == "jit") return;
  if (!step.blas || !machine.blas_available || options.accuracy == Accuracy::strict) {
    if (wanted == "blas!") refuse_blas(step, number, options, machine);
    return;
  }
  const double theirs = blas_seconds(step, machine);
  if (wanted == "auto" && theirs >= step.predicted_seconds) return;
  step.backend = "blas";
  step.predicted_seconds = theirs;
  step.fallbacks = {"jit", "reference"};
  if (wanted == "blas!") step.fallbacks.clear();
}

}  // namespace einjit
