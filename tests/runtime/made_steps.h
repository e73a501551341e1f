// Plans and steps made by hand, for tests of who runs what, where.
//
// A FakeStep calls a function of the test a tile. chain_plan(n): n steps, each reading the one
// before (the first one an operand), the last writing the destination.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "einjit/plan.h"
#include "runtime/backend.h"

namespace einjit::testing {

class FakeStep final : public PreparedStep {
 public:
  using Tile = std::function<void(const StepPointers&, std::int64_t)>;
  FakeStep(std::int64_t tiles, Tile tile) : tiles_(tiles), tile_(std::move(tile)) {}
  std::string_view backend() const override { return "fake"; }
  std::int64_t tiles() const override { return tiles_; }
  void run(const StepPointers& pointers, std::int64_t tile) const noexcept override {
    tile_(pointers, tile);
  }

 private:
  std::int64_t tiles_;
  Tile tile_;
};

inline std::vector<std::unique_ptr<PreparedStep>> fake_steps(std::size_t count, std::int64_t tiles,
                                                             const FakeStep::Tile& tile) {
  std::vector<std::unique_ptr<PreparedStep>> steps;
  for (std::size_t i = 0; i < count; ++i) steps.push_back(std::make_unique<FakeStep>(tiles, tile));
  return steps;
}

/// `flops` is each step's; 100 bytes of arena between steps, at 128 · step.
inline Plan chain_plan(std::size_t steps, double flops, bool one_wave = false) {
  Plan plan;
  plan.tensors.push_back({Place::operand, 0, DType::f64, false, {}, {}, 0, 0});
  for (std::size_t i = 0; i < steps; ++i) {
    PlanTensor c;
    c.place = i + 1 == steps ? Place::destination : Place::intermediate;
    c.arena_offset = c.place == Place::destination ? 0 : 128 * static_cast<std::int64_t>(i);
    plan.tensors.push_back(c);
    Step step;
    step.a = static_cast<std::int32_t>(one_wave ? 0 : i);
    step.c = static_cast<std::int32_t>(i + 1);
    step.kernel.unary = true;
    step.backend = "fake";
    step.flops = flops;
    step.wave = static_cast<std::int32_t>(one_wave ? 0 : i);
    plan.steps.push_back(step);
  }
  plan.arena_bytes = 128 * static_cast<std::int64_t>(steps);
  return plan;
}

}  // namespace einjit::testing
