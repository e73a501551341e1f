// A step as a loop over gemm, gemv or dot, where its canonical form is one.
//
// BLAS is column-major. With C's unit stride along `left` the step is C = A·B as it stands; with it
// along `right`, a and b change places (C ᵀ = Bᵀ·Aᵀ) and the result is column-major again.
#include <algorithm>
#include <limits>

#include "planner/kernel_choice.h"

namespace einjit {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();

/// A matrix seen from its two axes: (rows, columns) with strides, as BLAS takes it.
struct Matrix {
  char trans = 'N';
  std::int64_t ld = 1;
};

/// op(M) is rows × columns with these strides. An axis that is not there has extent 1 and stride 0.
std::optional<Matrix> matrix(StepAxis rows, StepAxis columns, std::size_t t, bool conj) {
  const std::int64_t rs = rows.strides[t], cs = columns.strides[t];
  const auto fits = [](std::int64_t inner_stride, std::int64_t inner, std::int64_t outer_stride,
                       std::int64_t outer) {
    return (inner == 1 || inner_stride == 1) &&
           (outer == 1 || (outer_stride >= inner && outer_stride <= kLargest));
  };
  const auto leading = [](std::int64_t stride, std::int64_t outer, std::int64_t inner) {
    return outer == 1 ? std::max<std::int64_t>(1, inner) : stride;
  };
  if (!conj && fits(rs, rows.extent, cs, columns.extent))
    return Matrix{'N', leading(cs, columns.extent, rows.extent)};
  if (fits(cs, columns.extent, rs, rows.extent))
    return Matrix{conj ? 'C' : 'T', leading(rs, rows.extent, columns.extent)};
  return std::nullopt;
}

bool fits_blas(const StepAxis& axis) { return axis.extent >= 1 && axis.extent <= kLargest; }

/// A vector's increment: positive (a negative one counts from the other end in BLAS).
bool is_increment(std::int64_t stride) { return stride >= 1 && stride <= kLargest; }

}  // namespace

std::optional<BlasForm> blas_form(const Plan& plan, const Step& step) {
  if (step.kind != StepKind::contract || step.b < 0) return std::nullopt;
  const auto axes = [&](AxisGroup g) -> const std::vector<StepAxis>& {
    return step.geometry[static_cast<std::size_t>(g)];
  };
  for (const std::int32_t t : {step.a, step.b, step.c})
    if (plan.tensors[static_cast<std::size_t>(t)].type != step.kernel.compute) return std::nullopt;
  if (axes(AxisGroup::contracted).size() != 1 || axes(AxisGroup::left).size() > 1 ||
      axes(AxisGroup::right).size() > 1)
    return std::nullopt;
  const auto axis = [&](AxisGroup g) { return axes(g).empty() ? StepAxis{} : axes(g).front(); };
  StepAxis left = axis(AxisGroup::left), right = axis(AxisGroup::right);
  const StepAxis k = axis(AxisGroup::contracted);
  if (!fits_blas(left) || !fits_blas(right) || !fits_blas(k)) return std::nullopt;
  BlasForm form;
  form.batch = axes(AxisGroup::batch);
  form.k = k.extent;
  const auto [conj_a, conj_b] = step.kernel.conj;

  if (axes(AxisGroup::left).empty() && axes(AxisGroup::right).empty()) {
    if (is_complex(step.kernel.compute) || !is_increment(k.strides[kA]) ||
        !is_increment(k.strides[kB]))
      return std::nullopt;
    form.routine = BlasForm::Routine::dot;
    form.lda = k.strides[kA];
    form.ldb = k.strides[kB];
    return form;
  }
  if (axes(AxisGroup::left).empty() || axes(AxisGroup::right).empty()) {
    // gemv: the matrix is the operand that has the free axis; it stands first.
    form.routine = BlasForm::Routine::gemv;
    form.swapped = axes(AxisGroup::left).empty();
    const std::size_t m = form.swapped ? kB : kA, v = form.swapped ? kA : kB;
    const StepAxis& free = form.swapped ? right : left;
    if (step.kernel.conj[v] || !is_increment(k.strides[v]) || !is_increment(free.strides[kC]))
      return std::nullopt;
    const auto found = matrix(free, k, m, step.kernel.conj[m]);
    if (!found) return std::nullopt;
    form.m = free.extent;
    form.trans_a = found->trans;
    form.lda = found->ld;
    form.ldb = k.strides[v];
    form.ldc = free.strides[kC];
    return form;
  }
  const std::int64_t cl = left.strides[kC], cr = right.strides[kC];
  form.swapped = cl != 1;
  if (form.swapped) std::swap(left, right);
  const std::size_t first = form.swapped ? kB : kA, second = form.swapped ? kA : kB;
  const std::int64_t unit = form.swapped ? cr : cl, leading = form.swapped ? cl : cr;
  if (unit != 1 || leading < left.extent || leading > kLargest) return std::nullopt;
  const auto a = matrix(left, k, first, form.swapped ? conj_b : conj_a);
  const auto b = matrix(k, right, second, form.swapped ? conj_a : conj_b);
  if (!a || !b) return std::nullopt;
  form.m = left.extent;
  form.n = right.extent;
  form.trans_a = a->trans;
  form.trans_b = b->trans;
  form.lda = a->ld;
  form.ldb = b->ld;
  form.ldc = leading;
  return form;
}

}  // namespace einjit
