// Fusing axes: what may become one axis, and in which order axes stand.
#include "planner/fuse.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "made_plan.h"

namespace einjit {
namespace {

using test::axes;
using test::key_of;
using test::plan_of;

LabelAxis axis(std::int64_t extent, std::array<bool, 3> in, std::array<std::int64_t, 3> strides) {
  return {extent, in, strides};
}

TEST_CASE("ab,ba-> does not fuse") {
  const Plan plan = plan_of(key_of("ab,ba->", {{3, 4}, {4, 3}}));
  REQUIRE(plan.steps.size() == 1);
  CHECK(axes(plan.steps[0], AxisGroup::contracted) ==
        std::vector<StepAxis>{{3, {4, 1, 0}}, {4, {1, 3, 0}}});
  CHECK(plan.steps[0].kernel.group(AxisGroup::contracted).tabled);
  CHECK(axes(plan_of(key_of("ab,ab->", {{3, 4}, {3, 4}})).steps[0], AxisGroup::contracted) ==
        std::vector<StepAxis>{{12, {1, 1, 0}}});
}

TEST_CASE("neighbours merge only where every tensor walks them as one") {
  CHECK(may_fuse({3, {4, 0, 8}}, {4, {1, 0, 2}}));
  CHECK_FALSE(may_fuse({3, {4, 0, 8}}, {4, {1, 0, 1}}));
  CHECK_FALSE(may_fuse({3, {5, 0, 4}}, {4, {1, 0, 1}}));
  CHECK(may_fuse({3, {-4, 0, 4}}, {4, {-1, 0, 1}}));
  CHECK_FALSE(may_fuse({3, {4, 0, 4}}, {4, {-1, 0, 1}}));
}

TEST_CASE("groups are by presence: a zero stride of the user's is an axis") {
  const Geometry g = fuse(
      {axis(3, {true, true, true}, {0, 1, 1}), axis(4, {true, false, true}, {0, 0, 3})}, false);
  CHECK(g[0] == std::vector<StepAxis>{{3, {0, 1, 1}}});
  CHECK(g[1] == std::vector<StepAxis>{{4, {0, 0, 3}}});
  CHECK_THROWS_AS(fuse({axis(3, {true, false, false}, {1, 0, 0})}, false), std::logic_error);
  CHECK(fuse({axis(3, {false, false, true}, {0, 0, 1})}, true)[1].size() == 1);
}

TEST_CASE("the order is by strides, whatever order the labels come in") {
  const std::vector<LabelAxis> labels{
      axis(2, {true, false, true}, {1, 0, 15}), axis(3, {true, false, true}, {2, 0, -5}),
      axis(5, {true, false, true}, {6, 0, 1}), axis(7, {true, true, false}, {30, -1, 0}),
      axis(2, {true, true, false}, {-30, 7, 0})};
  std::vector<std::size_t> order{0, 1, 2, 3, 4};
  const Geometry first = fuse(labels, false);
  CHECK(first[1] == std::vector<StepAxis>{{2, {1, 0, 15}}, {3, {2, 0, -5}}, {5, {6, 0, 1}}});
  CHECK(first[3] == std::vector<StepAxis>{{2, {-30, 7, 0}}, {7, {30, -1, 0}}});
  do {
    std::vector<LabelAxis> permuted;
    for (const std::size_t i : order) permuted.push_back(labels[i]);
    REQUIRE(fuse(permuted, false) == first);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("chains of dense axes become one") {
  const Plan plan = plan_of(key_of("abcd,cdef->abef", {{2, 3, 4, 5}, {4, 5, 6, 7}}));
  CHECK(axes(plan.steps[0], AxisGroup::left) == std::vector<StepAxis>{{6, {20, 0, 42}}});
  CHECK(axes(plan.steps[0], AxisGroup::right) == std::vector<StepAxis>{{42, {0, 1, 1}}});
  CHECK(axes(plan.steps[0], AxisGroup::contracted) == std::vector<StepAxis>{{20, {1, 42, 0}}});
}

TEST_CASE("an extent past 2^63 is not fused") {
  const std::int64_t huge = std::int64_t{1} << 40;
  const Geometry g = fuse(
      {axis(huge, {true, false, false}, {0, 0, 0}), axis(huge, {true, false, false}, {0, 0, 0})},
      true);
  CHECK(g[3].size() == 2);
}

}  // namespace
}  // namespace einjit
