// One amplitude of the quantum Fourier transform on 20 qubits, as a tensor network.
//
// 20 Hadamard gates and 190 controlled phases; a controlled phase is diagonal, so it is a 2×2 table
// over the wires it touches and makes hyper-labels. The amplitude is known in closed form:
//     ⟨y|QFT|x⟩ = 2^(−n/2) · exp(2πi·x·y / 2^n).
// Prints the plan's figures, the amplitude beside the known one, and the times.
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include "einjit/einjit.h"

using namespace einjit;

namespace {

constexpr int kQubits = 20;

/// The circuit's tensors: labels, and elements of extents 2.
struct Circuit {
  std::vector<std::vector<Label>> labels;
  std::vector<std::vector<c128>> elements;
  void add(std::vector<Label> l, std::vector<c128> e) {
    labels.push_back(std::move(l));
    elements.push_back(std::move(e));
  }
};

/// Wire q carries bit n−1−q of x in; after the transform it carries bit q of y (no swaps are
/// needed).
Circuit fourier_amplitude(unsigned x, unsigned y) {
  Circuit circuit;
  const double h = 1 / std::numbers::sqrt2;
  Label next = kQubits;  // labels 0 … n−1 are the input wires
  std::vector<Label> wire(kQubits);
  for (int q = 0; q < kQubits; ++q) {
    wire[q] = q;
    const bool bit = x >> (kQubits - 1 - q) & 1;
    circuit.add({wire[q]}, {bit ? 0.0 : 1.0, bit ? 1.0 : 0.0});
  }
  for (int q = 0; q < kQubits; ++q) {
    circuit.add({wire[q], next}, {h, h, h, -h});
    wire[q] = next++;
    for (int r = q + 1; r < kQubits; ++r) {
      const double angle = 2 * std::numbers::pi / std::ldexp(1.0, r - q + 1);
      circuit.add({wire[q], wire[r]}, {1, 1, 1, std::polar(1.0, angle)});
    }
  }
  for (int q = 0; q < kQubits; ++q) {
    const bool bit = y >> q & 1;
    circuit.add({wire[q]}, {bit ? 0.0 : 1.0, bit ? 1.0 : 0.0});
  }
  return circuit;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main() {
  const unsigned x = 714'025, y = 123'456;
  const Circuit circuit = fourier_amplitude(x, y);
  std::vector<Operand> operands;
  std::vector<Layout> layouts;
  for (std::size_t i = 0; i < circuit.labels.size(); ++i) {
    const std::vector<std::int64_t> twos(circuit.labels[i].size(), 2);
    operands.emplace_back(View<c128>(circuit.elements[i].data(), twos));
    layouts.push_back(layout_of(operands.back()));
  }
  const Expression expression = make_expression(circuit.labels, std::vector<Label>{});

  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  auto start = std::chrono::steady_clock::now();
  const PreparedPlan prepared = prepare(context, expression, layouts);
  const double prepare_seconds = seconds_since(start);

  c128 amplitude;
  start = std::chrono::steady_clock::now();
  prepared.run(context, operands, Destination(MutableView<c128>(&amplitude, {})));
  const double run_seconds = seconds_since(start);

  const double turns =
      std::fmod(double(x) * double(y), std::ldexp(1.0, kQubits)) / std::ldexp(1.0, kQubits);
  const c128 known = std::polar(std::ldexp(1.0, -kQubits / 2), 2 * std::numbers::pi * turns);
  const Plan& plan = prepared.plan();
  const EngineStatistics statistics = engine.statistics();
  std::printf("20-qubit Fourier transform, <%u|QFT|%u>: %zu tensors\n", y, x, operands.size());
  std::printf(
      "plan      %zu steps, log2 of multiply-adds %.2f, largest tensor 2^%.0f, arena %lld bytes\n",
      plan.steps.size(), plan.costs.tc, plan.costs.sc, static_cast<long long>(plan.arena_bytes));
  std::printf("kernels   %lld compiled in %.1f ms\n",
              static_cast<long long>(statistics.kernels_compiled),
              statistics.compile_seconds * 1e3);
  std::printf("amplitude %+.12e %+.12ei\nknown     %+.12e %+.12ei\n", amplitude.real(),
              amplitude.imag(), known.real(), known.imag());
  std::printf("prepared in %.1f ms, run in %.3f ms\n", prepare_seconds * 1e3, run_seconds * 1e3);
  const bool right = std::abs(amplitude - known) < 1e-12;
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}
