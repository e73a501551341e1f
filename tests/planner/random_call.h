// Random small calls: expression, layouts and data, with the answer by the defining sum.
#pragma once

#include <random>

#include "plan_interpreter.h"

namespace einjit::test {

struct Call {
  PlanKey key;
  std::vector<Buffer> operands;
  Buffer destination;
  Value alpha = 1, beta = 0;
};

class CallMaker {
 public:
  explicit CallMaker(std::uint64_t seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }

  Call call(int most_operands) {
    Call call;
    const int labels = 2 + below(5), operands = 1 + below(most_operands);
    std::vector<std::int64_t> extents;
    for (int l = 0; l < labels; ++l) extents.push_back(chance(3) ? 0 : 1 + below(4));
    Expression expression;
    std::vector<std::vector<std::int64_t>> shapes;
    std::vector<Label> known;
    for (int i = 0; i < operands; ++i) {
      auto& term = expression.inputs.emplace_back();
      auto& shape = shapes.emplace_back();
      for (int axis = below(4); axis > 0; --axis) {
        const Label l = below(labels);
        const bool repeated = std::find(term.begin(), term.end(), l) != term.end();
        term.push_back(l);
        shape.push_back(!repeated && chance(8) ? 1 : extents[static_cast<std::size_t>(l)]);
        for (std::size_t k = 0; repeated && k < term.size(); ++k)  // a diagonal: equal extents
          if (term[k] == l) shape[k] = extents[static_cast<std::size_t>(l)];
        known.push_back(l);
      }
    }
    auto& output = expression.output.emplace();
    for (int axis = below(4); axis > 0 && !known.empty(); --axis)
      output.push_back(known[static_cast<std::size_t>(below(static_cast<int>(known.size())))]);
    std::vector<LabelExtent> sizes;
    if (chance(10)) {
      output.push_back(100);
      sizes.push_back({100, 1 + below(3)});
    }
    const std::vector<std::span<const std::int64_t>> spans(shapes.begin(), shapes.end());
    call.key.contraction = resolve(expression, spans, sizes);
    call.key.contraction.names.clear();
    fill_in(call, shapes);
    return call;
  }

  Value value() { return {static_cast<double>(below(7) - 3), complex_ ? below(7) - 3.0 : 0.0}; }

 private:
  void fill_in(Call& call, const std::vector<std::vector<std::int64_t>>& shapes) {
    complex_ = chance(30);
    const bool mixed = chance(25);
    const auto type = [&] {
      const bool wide = mixed && chance(50);
      if (complex_ && !(mixed && chance(30))) return wide ? DType::c128 : DType::c64;
      return wide ? DType::f64 : DType::f32;
    };
    DType result = DType::f32;
    for (const auto& shape : shapes) {
      auto [layout, buffer] = strided(shape, type(), true);
      layout.conj = chance(30);
      const bool real = !is_complex(layout.type);
      for (Value& v : buffer.data) v = real ? Value(value().real()) : value();
      result = promote(result, layout.type);
      call.key.operands.push_back(layout);
      call.operands.push_back(buffer);
    }
    const DType wider = is_complex(result) ? DType::c128 : DType::f64;
    const auto classes = {ScalarClass::zero, ScalarClass::one, ScalarClass::general};
    call.key.alpha = chance(60) ? ScalarClass::one : classes.begin()[below(3)];
    call.key.beta = classes.begin()[below(3)];
    const Value scalars[] = {0, 1, is_complex(result) ? Value(2, -1) : Value(3)};
    call.alpha = scalars[static_cast<int>(call.key.alpha)];
    call.beta = scalars[static_cast<int>(call.key.beta)];
    std::tie(call.key.destination, call.destination) = strided(
        call.key.contraction.output_shape(), chance(15) ? promote(result, wider) : result, false);
    for (Value& v : call.destination.data)
      v = call.key.beta == ScalarClass::zero ? Value(std::nan("")) : value();
  }

  /// A dense layout with its axes in any order and direction, here and there with gaps; operands
  /// may also repeat their values along an axis.
  std::pair<Layout, Buffer> strided(const std::vector<std::int64_t>& shape, DType type,
                                    bool repeats) {
    Layout layout{type, shape, std::vector<std::int64_t>(shape.size(), 0), false};
    std::vector<std::size_t> order(shape.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
    if (chance(50)) std::shuffle(order.begin(), order.end(), random_);
    std::int64_t stride = chance(15) ? 2 : 1, low = 0, high = 0;
    for (const std::size_t i : order) {
      if (shape[i] == 1) continue;
      layout.strides[i] = repeats && chance(5) ? 0 : chance(10) ? -stride : stride;
      const std::int64_t reach = (std::max<std::int64_t>(shape[i], 1) - 1) * layout.strides[i];
      (reach < 0 ? low : high) += reach;
      stride = stride * std::max<std::int64_t>(shape[i], 1) + (chance(10) ? 1 : 0);
    }
    Buffer buffer;
    buffer.data.resize(static_cast<std::size_t>(high - low + 1));
    buffer.origin = -low;
    return {layout, buffer};
  }

  std::mt19937_64 random_;
  bool complex_ = false;
};

/// destination = alpha · Σ + beta · destination, point by point of the whole index space.
inline Buffer defining_sum(const Call& call) {
  const Contraction& contraction = call.key.contraction;
  Buffer sums = call.destination, result = call.destination;
  std::vector<StepAxis> out;
  for (std::size_t i = 0; i < contraction.output.size(); ++i)
    out.push_back({call.key.destination.extents[i], {0, 0, call.key.destination.strides[i]}});
  const auto empty = [](std::int64_t extent) { return extent == 0; };
  const auto& extents = contraction.extents;
  const auto& shape = call.key.destination.extents;
  if (std::any_of(shape.begin(), shape.end(), empty)) return result;
  for_each_point(out, [&](const auto& at) { sums.at(at[kC]) = 0; });
  std::vector<std::int64_t> index(extents.size(), 0);
  const bool none = std::any_of(extents.begin(), extents.end(), empty);
  while (!none) {
    Value product = 1;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const Layout& layout = call.key.operands[i];
      std::int64_t offset = 0;
      for (std::size_t axis = 0; axis < layout.extents.size(); ++axis)
        if (layout.extents[axis] != 1)
          offset +=
              layout.strides[axis] * index[static_cast<std::size_t>(contraction.axes[i][axis])];
      const Value v = Buffer(call.operands[i]).at(offset);
      product *= layout.conj ? std::conj(v) : v;
    }
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < out.size(); ++axis)
      offset += out[axis].strides[kC] * index[static_cast<std::size_t>(contraction.output[axis])];
    sums.at(offset) += product;
    std::size_t i = extents.size();
    for (; i-- > 0;) {
      if (++index[i] < extents[i]) break;
      index[i] = 0;
    }
    if (i == static_cast<std::size_t>(-1)) break;
  }
  for_each_point(out, [&](const auto& at) {
    Value& c = result.at(at[kC]);
    const Value old = call.key.beta == ScalarClass::zero ? Value(0) : call.beta * c;
    c = (call.key.alpha == ScalarClass::zero ? Value(0) : call.alpha * sums.at(at[kC])) + old;
  });
  return result;
}

}  // namespace einjit::test
