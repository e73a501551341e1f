// Runs a plan on small integers, straight from its geometry and its BLAS forms: a second opinion on
// what the planner decided, without any backend.
#pragma once

#include <algorithm>
#include <complex>
#include <functional>
#include <stdexcept>
#include <vector>

#include "einjit/plan.h"

namespace einjit::test {

using Value = std::complex<double>;

struct Buffer {
  std::vector<Value> data;
  std::int64_t origin = 0;  // where index (0, 0, …) lies
  Value& at(std::int64_t offset) { return data.at(static_cast<std::size_t>(origin + offset)); }
};

/// Calls f(offsets) for every point of the axes, offsets in a, b, c.
inline void for_each_point(const std::vector<StepAxis>& axes,
                           const std::function<void(const std::array<std::int64_t, 3>&)>& f) {
  std::vector<std::int64_t> index(axes.size(), 0);
  std::array<std::int64_t, 3> offset{};
  while (true) {
    f(offset);
    std::size_t i = axes.size();
    for (; i-- > 0;) {
      for (std::size_t t = 0; t < 3; ++t) offset[t] += axes[i].strides[t];
      if (++index[i] < axes[i].extent) break;
      for (std::size_t t = 0; t < 3; ++t) offset[t] -= axes[i].strides[t] * axes[i].extent;
      index[i] = 0;
    }
    if (i == static_cast<std::size_t>(-1)) return;
  }
}

class Interpreter {
 public:
  Interpreter(const Plan& plan, std::vector<Buffer> operands, Buffer destination, Value alpha,
              Value beta, bool use_blas)
      : plan_(plan),
        operands_(std::move(operands)),
        destination_(std::move(destination)),
        alpha_(alpha),
        beta_(beta),
        use_blas_(use_blas) {
    arena_.data.assign(static_cast<std::size_t>(plan.arena_bytes) / size_bytes(plan.result),
                       Value(std::nan(""), 0));
  }

  /// The steps of one wave run backwards: they may not depend on one another.
  Buffer run() {
    for (std::size_t first = 0; first < plan_.steps.size();) {
      std::size_t end = first;
      while (end < plan_.steps.size() && plan_.steps[end].wave == plan_.steps[first].wave) ++end;
      for (std::size_t s = end; s-- > first;) step(plan_.steps[s]);
      first = end;
    }
    return destination_;
  }

 private:
  Value& element(std::int32_t tensor, std::int64_t offset) {
    const PlanTensor& t = plan_.tensors[static_cast<std::size_t>(tensor)];
    if (t.place == Place::operand) return operands_[static_cast<std::size_t>(t.operand)].at(offset);
    if (t.place == Place::destination) return destination_.at(offset);
    return arena_.at(t.arena_offset / static_cast<std::int64_t>(size_bytes(t.type)) + offset);
  }

  void step(const Step& s) {
    if (s.kind != StepKind::contract) {
      std::vector<StepAxis> whole;
      for (std::size_t i = 0; i < plan_.destination.extents.size(); ++i)
        whole.push_back({plan_.destination.extents[i], {0, 0, plan_.destination.strides[i]}});
      for_each_point(whole, [&](const auto& at) {
        Value& c = destination_.at(at[kC]);
        c = s.kind == StepKind::fill ? Value(0) : beta_ * c;
      });
    } else if (s.blas && use_blas_) {
      for_each_point(s.blas->batch, [&](const auto& at) { blas(s, at); });
    } else {
      nest(s);
    }
  }

  void store(const Step& s, Value& c, Value sum) {
    if (s.kernel.alpha == AlphaClass::general) sum *= alpha_;
    if (s.kernel.beta == BetaClass::one) sum += c;
    if (s.kernel.beta == BetaClass::general) sum += beta_ * c;
    c = sum;
  }

  void nest(const Step& s) {
    std::vector<StepAxis> outer;
    for (const AxisGroup g : {AxisGroup::batch, AxisGroup::left, AxisGroup::right})
      for (const StepAxis& axis : s.geometry[static_cast<std::size_t>(g)]) outer.push_back(axis);
    for_each_point(outer, [&](const auto& at) {
      Value sum = 0;
      for_each_point(s.geometry[static_cast<std::size_t>(AxisGroup::contracted)],
                     [&](const auto& k) {
                       Value a = element(s.a, at[kA] + k[kA]);
                       if (s.kernel.conj[0]) a = std::conj(a);
                       Value b = s.b < 0 ? Value(1) : element(s.b, at[kB] + k[kB]);
                       if (s.b >= 0 && s.kernel.conj[1]) b = std::conj(b);
                       sum += a * b;
                     });
      store(s, element(s.c, at[kC]), sum);
    });
  }

  /// Column-major, by the letters of the BLAS.
  void blas(const Step& s, const std::array<std::int64_t, 3>& at) {
    const BlasForm& f = *s.blas;
    const std::int32_t first = f.swapped ? s.b : s.a, second = f.swapped ? s.a : s.b;
    const std::int64_t first_at = at[f.swapped ? kB : kA], second_at = at[f.swapped ? kA : kB];
    const auto op = [&](std::int32_t t, std::int64_t base, char trans, std::int64_t ld,
                        std::int64_t row, std::int64_t column) {
      const Value v = element(t, base + (trans == 'N' ? row + column * ld : column + row * ld));
      return trans == 'C' ? std::conj(v) : v;
    };
    const bool gemm = f.routine == BlasForm::Routine::gemm;
    const bool dot = f.routine == BlasForm::Routine::dot;
    for (std::int64_t i = 0; i < f.m; ++i)
      for (std::int64_t j = 0; j < f.n; ++j) {
        Value sum = 0;
        for (std::int64_t l = 0; l < f.k; ++l) {
          const Value a = dot ? element(first, first_at + l * f.lda)
                              : op(first, first_at, f.trans_a, f.lda, i, l);
          const Value b = gemm ? op(second, second_at, f.trans_b, f.ldb, l, j)
                               : element(second, second_at + l * f.ldb);
          sum += a * b;
        }
        store(s, element(s.c, at[kC] + (gemm ? i + j * f.ldc : dot ? 0 : i * f.ldc)), sum);
      }
  }

  const Plan& plan_;
  std::vector<Buffer> operands_;
  Buffer destination_;
  Value alpha_, beta_;
  bool use_blas_;
  Buffer arena_;
};

}  // namespace einjit::test
