// Random expressions: every backend agrees with `reference`, and renaming labels or permuting axes
// consistently (operands, their strides, the destination) never changes a bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "einjit/einjit.h"

using namespace einjit;

namespace {

/// One random call: labels by number, a buffer and strides for each operand and for the
/// destination.
struct Call {
  std::vector<std::vector<Label>> labels;
  std::vector<Label> output;
  std::vector<Dims> extents, strides;
  std::vector<std::int64_t> offsets;
  std::vector<std::vector<double>> buffers;
  Dims out_extents, out_strides;
  std::int64_t out_size = 1;
};

/// Strides in a random axis order, with gaps and signs; returns the offset and sets the buffer's
/// size.
std::int64_t random_strides(std::mt19937& random, const Dims& extents, Dims& strides,
                            std::int64_t& size) {
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), random);
  strides = extents;
  std::int64_t step = 1 + random() % 2, offset = 0;
  size = 1;
  for (std::size_t axis : order) {
    const bool backwards = random() % 5 == 0;
    strides[axis] = backwards ? -step : step;
    if (backwards) offset += step * (extents[axis] - 1);
    size += step * (extents[axis] - 1);
    step = step * extents[axis] + (random() % 4 == 0 ? random() % 3 : 0);
  }
  return offset;
}

Call random_call(std::mt19937& random, bool integers) {
  Call call;
  const int pool = 2 + static_cast<int>(random() % 6);
  std::vector<std::int64_t> extent(pool);
  for (auto& e : extent) e = 1 + random() % (random() % 4 == 0 ? 20 : 5);
  std::vector<Label> seen;
  const std::size_t operands = 1 + random() % 4;
  for (std::size_t i = 0; i < operands; ++i) {
    std::vector<Label> term;
    std::vector<std::int64_t> shape;
    const std::size_t rank = random() % 5;
    std::int64_t elements = 1;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const Label l = static_cast<Label>(random() % pool);
      if (elements * extent[l] > 2000) continue;
      elements *= extent[l];
      term.push_back(l);
      shape.push_back(extent[l]);
    }
    for (Label l : term)
      if (std::find(seen.begin(), seen.end(), l) == seen.end()) seen.push_back(l);
    Dims strides;
    std::int64_t size = 0;
    call.labels.push_back(term);
    call.extents.emplace_back(shape);
    call.offsets.push_back(random_strides(random, call.extents.back(), strides, size));
    call.strides.push_back(strides);
    std::vector<double> buffer(static_cast<std::size_t>(size));
    for (double& x : buffer)
      x = integers ? static_cast<double>(static_cast<int>(random() % 7) - 3)
                   : std::uniform_real_distribution<double>(-1, 1)(random);
    call.buffers.push_back(std::move(buffer));
  }
  std::shuffle(seen.begin(), seen.end(), random);
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (Label l : seen)
    if (random() % 2 && elements * extent[l] < 2000) {
      call.output.push_back(l);
      shape.push_back(extent[l]);
      elements *= extent[l];
    }
  call.out_extents = Dims(shape);
  return call;
}

std::vector<double> run(const ExecContext& context, const Call& call, const EinsumOptions& options,
                        std::int64_t out_offset) {
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < call.labels.size(); ++i)
    operands.emplace_back(View<double>(std::span<const double>(call.buffers[i]), call.offsets[i],
                                       call.extents[i], call.strides[i]));
  std::vector<double> out(static_cast<std::size_t>(call.out_size), -77.0);
  einsum_into(context, make_expression(call.labels, call.output),
              Destination(MutableView<double>(std::span<double>(out), out_offset, call.out_extents,
                                              call.out_strides)),
              operands, {}, options);
  return out;
}

template <class X>
std::vector<X> permuted(const std::vector<X>& values, const std::vector<std::size_t>& order) {
  std::vector<X> out;
  for (std::size_t i : order) out.push_back(values[i]);
  return out;
}
Dims permuted(const Dims& values, const std::vector<std::size_t>& order) {
  return Dims(permuted(std::vector<std::int64_t>(values.begin(), values.end()), order));
}

/// The same memory under other names and another order of axes.
Call renamed(std::mt19937& random, const Call& call) {
  Call other = call;
  std::vector<Label> names(16);
  std::iota(names.begin(), names.end(), -5);
  std::shuffle(names.begin(), names.end(), random);
  const auto shuffled = [&](std::size_t n) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random);
    return order;
  };
  const auto rename = [&](std::vector<Label>& term) {
    for (Label& l : term) l = names[static_cast<std::size_t>(l)];
  };
  for (std::size_t i = 0; i < call.labels.size(); ++i) {
    const auto order = shuffled(call.labels[i].size());
    other.labels[i] = permuted(call.labels[i], order);
    other.extents[i] = permuted(call.extents[i], order);
    other.strides[i] = permuted(call.strides[i], order);
    rename(other.labels[i]);
  }
  const auto order = shuffled(call.output.size());
  other.output = permuted(call.output, order);
  other.out_extents = permuted(call.out_extents, order);
  other.out_strides = permuted(call.out_strides, order);
  rename(other.output);
  return other;
}

int repetitions() {
  return std::getenv("EINJIT_SHORT") && *std::getenv("EINJIT_SHORT") == '0' ? 20000 : 1000;
}

std::string written(const Call& call) { return to_text(make_expression(call.labels, call.output)); }

}  // namespace

TEST_CASE("every backend equals reference on random expressions") {
  std::mt19937 random(20);
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  for (int i = 0; i < repetitions(); ++i) {
    Call call = random_call(random, true);
    const std::int64_t offset =
        random_strides(random, call.out_extents, call.out_strides, call.out_size);
    EinsumOptions options;
    options.backend = "reference";
    const std::vector<double> right = run(context, call, options, offset);
    for (const char* backend : {"jit", "blas", "auto"}) {
      options.backend = backend;
      options.finder = i % 2 ? "greedy" : "optimal";
      CAPTURE(written(call));
      CAPTURE(backend);
      REQUIRE(run(context, call, options, offset) == right);
    }
  }
}

TEST_CASE("renaming labels and permuting axes never changes a bit") {
  std::mt19937 random(21);
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  for (int i = 0; i < repetitions(); ++i) {
    Call call = random_call(random, false);
    const std::int64_t offset =
        random_strides(random, call.out_extents, call.out_strides, call.out_size);
    const Call other = renamed(random, call);
    EinsumOptions options;
    options.finder = i % 2 ? "greedy" : "auto";
    options.backend = i % 3 ? "jit" : "auto";
    CAPTURE(written(call));
    CAPTURE(written(other));
    const std::vector<double> one = run(context, call, options, offset);
    const std::vector<double> two = run(context, other, options, offset);
    REQUIRE(std::memcmp(one.data(), two.data(), one.size() * sizeof(double)) == 0);
  }
}
