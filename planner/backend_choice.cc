// BLAS or our own loops for a step: by the time that the Machine's rates predict.
#include <algorithm>

#include "einjit/error.h"
#include "planner/kernel_choice.h"

namespace einjit {
namespace {

constexpr std::string_view kBackends = "auto, reference, jit, jit!, blas, blas!";

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
    if (group.present && group.strides[kC] == StrideClass::unit && group.strides[kA] != StrideClass::runtime &&
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
  return calls * machine.blas_call_seconds + std::max(step.flops / rate, memory_seconds(step, machine));
}

}  // namespace

void choose_backend(Step& step, std::size_t number, const PlanOptions& options, const Machine& machine) {
  const std::string& wanted = options.backend;
  const double ours = step.kind == StepKind::contract ? jit_seconds(step, machine) : memory_seconds(step, machine);
  step.predicted_seconds = ours;
  if (step.kind != StepKind::contract) {
    step.backend = "fill";
    return;
  }
  const bool blas_fits = step.blas && machine.blas_available && options.accuracy != Accuracy::strict;
  if (wanted == "reference") {
    step.backend = "reference";
  } else if (wanted == "jit" || wanted == "jit!") {
    step.backend = "jit";
    if (wanted == "jit") step.fallbacks = {"reference"};
  } else if (wanted == "blas!" && !blas_fits) {
    throw Error(ErrorCode::unsupported,
                "backend blas! cannot run step " + std::to_string(number) + " (" + to_text(step.kernel) + "): " +
                    (options.accuracy == Accuracy::strict ? "strict accuracy excludes BLAS"
                     : !machine.blas_available            ? "no BLAS is available"
                                                          : "it is no gemm, gemv or dot") +
                    "; 'blas' without the mark falls back to compiled loops");
  } else if (wanted == "auto" || wanted == "blas" || wanted == "blas!") {
    const double theirs = blas_fits ? blas_seconds(step, machine) : 0;
    if (blas_fits && (wanted != "auto" || theirs < ours)) {
      step.backend = "blas";
      step.predicted_seconds = theirs;
      if (wanted != "blas!") step.fallbacks = {"jit", "reference"};
    } else {
      step.backend = "jit";
      step.fallbacks = {"reference"};
    }
  } else {
    throw Error(ErrorCode::invalid_argument,
                "no backend is named '" + wanted + "'; there are: " + std::string(kBackends));
  }
}

}  // namespace einjit
