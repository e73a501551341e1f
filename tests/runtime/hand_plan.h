// Plans of one step, made by hand from labels: what tests of a backend need and no search.
//
// Labels are letters; extents by letter. Strides default to dense row-major ones of the labels'
// order. The fused geometry, the kernel and the BLAS form are the planner's own.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "einjit/plan.h"
#include "planner/fuse.h"
#include "planner/kernel_choice.h"
#include "runtime/backend.h"

namespace einjit::testing {

struct HandTensor {
  std::string labels;
  std::vector<std::int64_t> strides{};  // empty: dense, row-major
  bool conj = false;
};

struct HandScalars {
  AlphaClass alpha = AlphaClass::one;
  BetaClass beta = BetaClass::zero;
};

/// `types` of a, b, c; without b for a step of one operand. The step computes in `compute`.
inline Plan hand_plan(const std::map<char, std::int64_t>& extents, std::vector<HandTensor> tensors,
                      std::vector<DType> types, DType compute, HandScalars scalars = {}) {
  Plan plan;
  plan.result = compute;
  std::map<char, LabelId> ids;
  for (const auto& [letter, extent] : extents) {
    ids[letter] = static_cast<LabelId>(plan.contraction.extents.size());
    plan.contraction.extents.push_back(extent);
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    PlanTensor t;
    t.place = i + 1 == tensors.size() ? Place::destination : Place::operand;
    t.type = types.at(i);
    t.conj = tensors[i].conj;
    std::int64_t step = 1;
    for (std::size_t axis = tensors[i].labels.size(); axis-- > 0;) {
      const char letter = tensors[i].labels[axis];
      t.labels.insert(t.labels.begin(), ids.at(letter));
      t.strides.insert(t.strides.begin(),
                       tensors[i].strides.empty() ? step : tensors[i].strides.at(axis));
      step = extents.at(letter) * (tensors[i].strides.empty() ? step : 1);
    }
    plan.tensors.push_back(std::move(t));
  }
  Step step;
  const bool unary = tensors.size() == 2;
  step.a = 0;
  step.b = unary ? -1 : 1;
  step.c = unary ? 1 : 2;
  const auto not_alone = [&](const auto& letter) {
    const auto holds = [&](const HandTensor& t) { return t.labels.find(letter.first) + 1 != 0; };
    return unary || std::count_if(tensors.begin(), tensors.end(), holds) != 1;
  };
  if (std::all_of(extents.begin(), extents.end(), not_alone))  // the planner makes no other steps
    step.geometry = fuse(label_axes(plan.tensors[0], unary ? nullptr : &plan.tensors[1],
                                    plan.tensors.back(), plan.contraction.extents),
                         unary);
  choose_kernel(plan, step, scalars.alpha, scalars.beta, false, "");
  step.kernel.compute = compute;
  step.blas = blas_form(plan, step);
  plan.steps.push_back(std::move(step));
  return plan;
}

template <class T>
const std::byte* bytes_of(const std::vector<T>& values) {
  return reinterpret_cast<const std::byte*>(values.data());
}
template <class T>
std::byte* bytes_of(std::vector<T>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

inline void run_all(const PreparedStep& step, const StepPointers& pointers) {
  for (std::int64_t tile = 0; tile < step.tiles(); ++tile) step.run(pointers, tile);
}

/// The same bits, NaN included.
template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

}  // namespace einjit::testing
