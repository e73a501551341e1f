// Geometry and types of a step → its KernelSpec.
#include "planner/kernel_choice.h"

#include <algorithm>

namespace einjit {
namespace {

StrideClass stride_class(std::int64_t stride) {
  return stride == 0 ? StrideClass::zero : stride == 1 ? StrideClass::unit : StrideClass::runtime;
}

double iterations(const Geometry& geometry) {
  double n = 1;
  for (const auto& group : geometry)
    for (const StepAxis& axis : group) n *= static_cast<double>(axis.extent);
  return n;
}

}  // namespace

void choose_kernel(const Plan& plan, Step& step, AlphaClass alpha, BetaClass beta, bool single,
                   const std::string& lowering) {
  KernelSpec& kernel = step.kernel;
  const auto tensor = [&](std::int32_t t) -> const PlanTensor& {
    return plan.tensors[static_cast<std::size_t>(t)];
  };
  kernel.unary = step.b < 0;
  // A copy into a wider destination converts as it stores; only adding to one needs its type.
  const bool converts = kernel.unary && beta == BetaClass::zero;
  kernel.compute = converts ? plan.result : tensor(step.c).type;
  kernel.types = {tensor(step.a).type, kernel.unary ? kernel.compute : tensor(step.b).type,
                  tensor(step.c).type};
  kernel.conj = {tensor(step.a).conj, !kernel.unary && tensor(step.b).conj};
  kernel.alpha = alpha;
  kernel.beta = beta;
  kernel.lowering = lowering;
  const bool tabled = std::any_of(step.geometry.begin(), step.geometry.end(),
                                  [](const auto& group) { return group.size() > 1; });
  const bool fixed = single && !tabled && iterations(step.geometry) <= kSpecializedIterations;
  for (const AxisGroup g : kAxisGroups) {
    const std::vector<StepAxis>& axes = step.geometry[static_cast<std::size_t>(g)];
    if (axes.empty()) continue;
    GroupSpec& group = kernel.group(g);
    group.present = true;
    group.tabled = axes.size() > 1;
    if (fixed) group.extent = axes.back().extent;
    for (std::size_t t = 0; t < 3; ++t) group.strides[t] = stride_class(axes.back().strides[t]);
  }
  if (const auto& contracted = step.geometry[static_cast<std::size_t>(AxisGroup::contracted)];
      !contracted.empty())
    kernel.sum_order = sum_order_for(
        kernel.compute,
        kernel.group(AxisGroup::left).present && kernel.group(AxisGroup::right).present,
        contracted.back().extent);
}

}  // namespace einjit
