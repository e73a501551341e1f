// Layouts as tensors of a plan.
#include "planner/simplify.h"

#include <doctest/doctest.h>

#include "einjit/error.h"

namespace einjit {
namespace {

TEST_CASE("a repeated label walks the diagonal") {
  const PlanTensor t = merged_tensor({0, 1, 0}, {DType::f64, {3, 4, 3}, {12, 3, 1}, false}, {3, 4});
  CHECK(t.labels == std::vector<LabelId>{0, 1});
  CHECK(t.strides == std::vector<std::int64_t>{13, 3});
}

TEST_CASE("axes of extent 1 are nowhere, their strides unread") {
  const PlanTensor t =
      merged_tensor({0, 1, 2}, {DType::f64, {1, 4, 1}, {99, -2, 77}, false}, {5, 4, 1});
  CHECK(t.labels == std::vector<LabelId>{1});
  CHECK(t.strides == std::vector<std::int64_t>{-2});
}

TEST_CASE("conj on a real operand does nothing") {
  CHECK_FALSE(merged_tensor({}, {DType::f32, {}, {}, true}, {}).conj);
  CHECK(merged_tensor({}, {DType::c64, {}, {}, true}, {}).conj);
}

TEST_CASE("only a label of extent > 1 twice in the output writes a diagonal") {
  Contraction contraction;
  contraction.extents = {3, 1};
  contraction.output = {0, 1, 1};
  CHECK_FALSE(writes_diagonal(contraction));
  contraction.output = {0, 1, 0};
  CHECK(writes_diagonal(contraction));
}

TEST_CASE("bytes are counted without wrapping around") {
  const auto what = [] { return std::string("the thing"); };
  const std::int64_t huge = std::int64_t{1} << 31;
  CHECK(checked_bytes({huge, 1 << 28}, DType::f64, what) == std::int64_t{1} << 62);
  CHECK(checked_bytes({huge, huge, huge, 0}, DType::f64, what) == 0);
  CHECK_THROWS_WITH_AS(checked_bytes({huge, 1 << 29}, DType::f64, what),
                       doctest::Contains("the thing has more than 2^63 bytes"), Error);
}

}  // namespace
}  // namespace einjit
