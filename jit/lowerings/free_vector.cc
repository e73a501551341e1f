// The lowering "free_vector": vectors along a free axis, a register tile of rows along another.
//
// The best vector axis is contiguous in c and contiguous or repeated in a and b. Rows share the
// loads of the tensor that does not have the row axis.
#include "jit/lowering.h"

namespace einjit::jit::lowerings {
namespace {

constexpr AxisGroup kFree[] = {AxisGroup::right, AxisGroup::left, AxisGroup::batch};

/// Higher is better; negative: a scalar loop is no worse.
int score(const KernelSpec& spec, const GroupSpec& group) {
  if (!group.present || group.extent == 1) return -1;
  constexpr int kScores[] = {2, 3, 0};  // splat, contiguous, strided
  int score = 4 * kScores[static_cast<std::size_t>(group.strides[kC])];
  score += kScores[static_cast<std::size_t>(group.strides[kA])];
  if (!spec.unary) score += kScores[static_cast<std::size_t>(group.strides[kB])];
  return score;
}

std::optional<AxisGroup> best_axis(const KernelSpec& spec) {
  std::optional<AxisGroup> best;
  int highest = -1;
  for (const AxisGroup g : kFree)
    if (const int s = score(spec, spec.group(g)); s > highest) {
      highest = s;
      best = g;
    }
  return best;
}

bool accepts(const KernelSpec& spec) { return best_axis(spec).has_value(); }

LoopNest lower(const KernelSpec& spec, std::int32_t vector_bytes) {
  LoopNest nest;
  nest.vector_axis = best_axis(spec);
  nest.width = vector_width(spec, *nest.vector_axis, vector_bytes);
  const bool summed = spec.group(AxisGroup::contracted).present;
  if (summed) nest.sum = spec.sum_order.lanes == 1 ? SumForm::chain : SumForm::lanes_in_memory;
  // Registers: rows × vectors accumulators (twice for complex), the vectors of one operand, one
  // splat. 8 × 3 of 32 registers with AVX-512, 4 × 3 of 16 otherwise; half the rows for complex.
  const bool large = vector_bytes >= 64;
  const bool complex = is_complex(spec.compute);
  const std::int64_t extent = spec.group(*nest.vector_axis).extent;
  nest.vectors = complex ? 2 : 3;
  if (nest.sum != SumForm::chain) nest.vectors = 4;
  if (nest.sum == SumForm::lanes_in_memory) nest.vectors = 2;
  if (extent != 0)
    while (nest.vectors > 1 && (nest.vectors - 1) * nest.width >= extent) --nest.vectors;
  if (!summed || nest.sum == SumForm::lanes_in_memory) return nest;
  for (const AxisGroup g : kFree)
    if (g != *nest.vector_axis && spec.group(g).present && g != AxisGroup::batch) {
      nest.row_axis = g;
      nest.rows = (large ? 8 : 4) / (complex ? 2 : 1);
      const std::int64_t rows = spec.group(g).extent;
      if (rows != 0 && rows < nest.rows) nest.rows = static_cast<std::int32_t>(rows);
      break;
    }
  return nest;
}

}  // namespace

extern const Lowering free_vector;
constinit const Lowering free_vector{"free_vector", "vectors along a free axis, register tiles",
                                     &accepts, &lower};

}  // namespace einjit::jit::lowerings
