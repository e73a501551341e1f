// Plans for the planner's tests: an expression with shapes → key → plan.
#pragma once

#include <string_view>
#include <vector>

#include "einjit/plan.h"

namespace einjit::test {

using Shape = std::vector<std::int64_t>;

inline Layout row_major(const Shape& shape, DType type = DType::f64) {
  Layout layout{type, shape, Shape(shape.size(), 0), false};
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i])
    if (shape[i] != 1) layout.strides[i] = stride;
  return layout;
}

/// Row-major operands and destination of one type.
inline PlanKey key_of(std::string_view expression, const std::vector<Shape>& shapes,
                      DType type = DType::f64, std::span<const LabelExtent> sizes = {}) {
  PlanKey key;
  const std::vector<std::span<const std::int64_t>> spans(shapes.begin(), shapes.end());
  key.contraction = resolve(parse(expression), spans, sizes);
  key.contraction.names.clear();
  for (const Shape& shape : shapes) key.operands.push_back(row_major(shape, type));
  key.destination = row_major(key.contraction.output_shape(), type);
  return key;
}

inline Plan plan_of(const PlanKey& key, const Machine& machine = {}) {
  Plan plan = make_plan(key, machine, {});
  verify(plan);
  return plan;
}

inline const std::vector<StepAxis>& axes(const Step& step, AxisGroup group) {
  return step.geometry[static_cast<std::size_t>(group)];
}

}  // namespace einjit::test
