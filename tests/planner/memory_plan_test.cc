// Arena offsets and waves.
#include "planner/memory_plan.h"

#include <doctest/doctest.h>

#include "made_plan.h"
#include "random_call.h"

namespace einjit {
namespace {

using test::key_of;
using test::plan_of;

struct Life {
  std::int32_t born = -1, dies = -1;  // waves
};

std::vector<Life> lives_of(const Plan& plan) {
  std::vector<Life> lives(plan.tensors.size());
  for (const Step& step : plan.steps) {
    lives[static_cast<std::size_t>(step.c)].born = step.wave;
    for (const std::int32_t t : {step.a, step.b})
      if (t >= 0) lives[static_cast<std::size_t>(t)].dies = step.wave;
  }
  return lives;
}

TEST_CASE("tensors alive in one wave never overlap, by every pair") {
  test::CallMaker maker(5);
  int pairs = 0;
  for (int n = 0; n < 800; ++n) {
    const Plan plan = plan_of(maker.call(9).key);
    const std::vector<Life> lives = lives_of(plan);
    std::int64_t end = 0;
    for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
      const PlanTensor& x = plan.tensors[i];
      if (x.place != Place::intermediate) continue;
      end = std::max(end, (x.arena_offset + x.bytes + 63) / 64 * 64);
      for (std::size_t j = 0; j < i; ++j) {
        const PlanTensor& y = plan.tensors[j];
        if (y.place != Place::intermediate) continue;
        if (lives[i].born > lives[j].dies || lives[j].born > lives[i].dies) continue;
        ++pairs;
        INFO(to_text(plan));
        REQUIRE((x.arena_offset + x.bytes <= y.arena_offset ||
                 y.arena_offset + y.bytes <= x.arena_offset));
      }
    }
    CHECK(plan.arena_bytes == end);
  }
  CHECK(pairs > 500);
}

TEST_CASE("a chain needs two intermediates at a time") {
  PlanKey key = key_of("ab,bc,cd,de,ef,fg->ag", std::vector<test::Shape>(6, {8, 8}));
  key.options.path = LinearPath{{0, 1}, {0, 4}, {0, 3}, {0, 2}, {0, 1}};
  const Plan plan = plan_of(key);
  CHECK(plan.arena_bytes == 2 * 512);
  CHECK(plan.peak_bytes(8) == 2 * 512);
  std::vector<std::int64_t> offsets;
  for (const PlanTensor& t : plan.tensors)
    if (t.place == Place::intermediate) offsets.push_back(t.arena_offset);
  CHECK(offsets == std::vector<std::int64_t>{0, 512, 0, 512});
}

TEST_CASE("the child that needs more memory runs first") {
  // The left child is made at once; the right one, larger, passes through 512 × 512.
  PlanKey key = key_of("ab,bc,cd,de,ea->", {{8, 2}, {2, 512}, {512, 2}, {2, 512}, {512, 8}});
  key.options.path = LinearPath{{0, 1}, {0, 1}, {0, 2}, {0, 1}};
  const Plan plan = plan_of(key);
  REQUIRE(plan.steps.size() == 4);
  CHECK(plan.steps[0].flops == 512 * 2 * 512);
  CHECK(plan.arena_bytes == 8 * (512 * 512 + 512 * 8));
}

TEST_CASE("small independent steps share a wave, dependent and large ones do not") {
  PlanKey key = key_of("ab,bc,cd,de->ae", std::vector<test::Shape>(4, {4, 4}));
  key.options.path = LinearPath{{0, 1}, {0, 1}, {0, 1}};
  const Plan plan = plan_of(key);
  REQUIRE(plan.steps.size() == 3);
  CHECK(plan.steps[0].wave == 0);
  CHECK(plan.steps[1].wave == 0);
  CHECK(plan.steps[2].wave == 1);
  PlanKey large = key_of("ab,bc,cd,de->ae", std::vector<test::Shape>(4, {128, 128}));
  large.options.path = key.options.path;
  const Plan apart = plan_of(large);
  CHECK(apart.steps[1].wave == 1);
}

}  // namespace
}  // namespace einjit
