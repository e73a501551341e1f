// Fill and scale steps: every element of the destination and nothing between.
#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

#include "runtime/backends.h"
#include "tests/runtime/hand_plan.h"

using namespace einjit;
using namespace einjit::testing;

namespace {

std::unique_ptr<PreparedStep> step_over(const Layout& layout, StepKind kind,
                                        ScalarClass beta = ScalarClass::general) {
  Plan plan;
  plan.destination = layout;
  plan.beta = beta;
  Step step;
  step.kind = kind;
  step.reason = kind == StepKind::fill ? FillReason::off_diagonal : FillReason::none;
  return make_fill_step(plan, step);
}

}  // namespace

TEST_CASE("fill: zeros in every element, gaps keep their bits") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> c(24, nan);
  const auto step = step_over({DType::f64, {2, 1, 3}, {-12, 999, 3}}, StepKind::fill);
  CHECK(step->tiles() == 1);
  StepPointers p;
  p.c = bytes_of(c) + 14 * sizeof(double);
  run_all(*step, p);
  std::vector<double> expected(24, nan);
  for (int i : {2, 5, 8, 14, 17, 20}) expected[static_cast<std::size_t>(i)] = 0;
  CHECK(same_bits(c, expected));
}

TEST_CASE("fill: dense destinations are cut into tiles that cover them once") {
  constexpr std::int64_t kRows = 1500, kColumns = 700;
  std::vector<c64> c(kRows * kColumns + 2, c64(5, 5));
  const auto step = step_over({DType::c64, {kRows, kColumns}, {kColumns, 1}}, StepKind::scale);
  CHECK(step->tiles() > 1);
  StepPointers p;
  p.c = bytes_of(c) + sizeof(c64);
  p.beta = {0, 2};
  run_all(*step, p);
  CHECK(c.front() == c64(5, 5));
  CHECK(c.back() == c64(5, 5));
  CHECK(std::all_of(c.begin() + 1, c.end() - 1, [](c64 x) { return x == c64(-10, 10); }));
}

TEST_CASE("fill: tiles of rows with a gap, columns before rows") {
  constexpr std::int64_t kRows = 600, kColumns = 1000, kStride = 1001;
  std::vector<float> c(kRows + kStride * kColumns, 1);
  const auto step = step_over({DType::f32, {kRows, kColumns}, {1, kStride}}, StepKind::fill);
  CHECK(step->tiles() > 1);
  StepPointers p;
  p.c = bytes_of(c);
  run_all(*step, p);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i) % kStride;
    const bool inside = row < kRows && static_cast<std::int64_t>(i) < kStride * kColumns;
    wrong += c[i] != (inside ? 0 : 1);
  }
  CHECK(wrong == 0);
}

TEST_CASE("fill: scale in every type, beta one and empty destinations do nothing") {
  std::vector<double> d{3};
  StepPointers p;
  p.c = bytes_of(d);
  p.beta = {-2, 0};
  run_all(*step_over({DType::f64, {}, {}}, StepKind::scale), p);
  CHECK(d[0] == -6);
  run_all(*step_over({DType::f64, {}, {}}, StepKind::scale, ScalarClass::one), p);
  CHECK(d[0] == -6);
  const std::int64_t huge = std::int64_t{1} << 40;
  p.c = nullptr;
  run_all(*step_over({DType::f64, {huge, 0, huge}, {1, 1, huge}}, StepKind::fill), p);
  std::vector<c128> z{{1, 2}, {0, 1}};
  p.c = bytes_of(z);
  p.beta = {0, 1};
  run_all(*step_over({DType::c128, {2}, {1}}, StepKind::scale), p);
  CHECK(z == std::vector<c128>{{-2, 1}, {-1, 0}});
}

TEST_CASE("fill: a fill has a reason, a contraction is none") {
  Plan plan;
  Step step;
  CHECK_THROWS_AS(make_fill_step(plan, step), std::logic_error);
  step.kind = StepKind::fill;
  CHECK_THROWS_AS(make_fill_step(plan, step), std::logic_error);
}
