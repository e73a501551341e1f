// The lowering "contracted_vector": dots and row reductions, vectors along the contracted inner
// axis.
//
// The lanes of the sum order are the elements of one or more vectors, so the bits are those of
// every other lowering. It pays where the contracted axis is contiguous and no free axis is
// contiguous in c and a.
#include "jit/lowering.h"

namespace einjit::jit::lowerings {
namespace {

bool accepts(const KernelSpec& spec) {
  const GroupSpec& k = spec.group(AxisGroup::contracted);
  if (!k.present || spec.sum_order.lanes == 1) return false;
  if (k.strides[kA] != StrideClass::unit && (spec.unary || k.strides[kB] != StrideClass::unit))
    return false;
  for (const AxisGroup g : {AxisGroup::batch, AxisGroup::left, AxisGroup::right}) {
    const GroupSpec& group = spec.group(g);
    if (!group.present || group.strides[kC] != StrideClass::unit) continue;
    const bool a = group.strides[kA] != StrideClass::runtime;
    const bool b = spec.unary || group.strides[kB] != StrideClass::runtime;
    if (a && b && group.extent != 1) return false;
  }
  return true;
}

LoopNest lower(const KernelSpec& spec, std::int32_t vector_bytes) {
  LoopNest nest;
  nest.vector_axis = AxisGroup::contracted;
  nest.sum = SumForm::lanes_in_vectors;
  nest.width = vector_bytes / static_cast<std::int32_t>(size_bytes(real_of(spec.compute)));
  if (nest.width > spec.sum_order.lanes) nest.width = spec.sum_order.lanes;
  nest.vectors = spec.sum_order.lanes / nest.width;
  for (const AxisGroup g : {AxisGroup::right, AxisGroup::left})
    if (spec.group(g).present) {
      nest.row_axis = g;
      nest.rows = nest.vectors > 2 || is_complex(spec.compute)
                      ? 2
                      : 4;  // enough chains to hide an addition's latency
      const std::int64_t rows = spec.group(g).extent;
      if (rows != 0 && rows < nest.rows) nest.rows = static_cast<std::int32_t>(rows);
      break;
    }
  return nest;
}

}  // namespace

extern const Lowering contracted_vector;
constinit const Lowering contracted_vector{"contracted_vector", "vectors along the contracted axis",
                                           &accepts, &lower};

}  // namespace einjit::jit::lowerings
