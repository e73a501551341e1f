// The lowering "scalar": one element at a time. Takes every step.
#include "jit/lowering.h"

namespace einjit::jit::lowerings {
namespace {

bool accepts(const KernelSpec&) { return true; }

LoopNest lower(const KernelSpec& spec, std::int32_t) {
  LoopNest nest;
  if (spec.group(AxisGroup::contracted).present)
    nest.sum = spec.sum_order.lanes == 1 ? SumForm::chain : SumForm::lanes_in_memory;
  return nest;
}

}  // namespace

extern const Lowering scalar;
constinit const Lowering scalar{"scalar", "one element at a time; takes every step", &accepts,
                                &lower};

}  // namespace einjit::jit::lowerings
