// Which steps are gemm, gemv or dot, with which letters.
#include <doctest/doctest.h>

#include "made_plan.h"

namespace einjit {
namespace {

using Routine = BlasForm::Routine;
using test::key_of;
using test::plan_of;

std::optional<BlasForm> form_of(const PlanKey& key) { return plan_of(key).steps.back().blas; }

TEST_CASE("a row-major product is a swapped gemm") {
  const auto form = form_of(key_of("ij,jk->ik", {{2, 3}, {3, 4}}));
  REQUIRE(form);
  CHECK(*form == BlasForm{Routine::gemm, true, 'N', 'N', 4, 2, 3, 4, 3, 4, {}});
}

TEST_CASE("all transposes of operands and result") {
  CHECK(*form_of(key_of("ij,jk->ki", {{2, 3}, {3, 4}})) ==
        BlasForm{Routine::gemm, false, 'T', 'T', 2, 4, 3, 3, 4, 2, {}});
  CHECK(*form_of(key_of("ji,jk->ik", {{3, 2}, {3, 4}})) ==
        BlasForm{Routine::gemm, true, 'N', 'T', 4, 2, 3, 4, 2, 4, {}});
  CHECK(*form_of(key_of("ij,kj->ik", {{2, 3}, {4, 3}})) ==
        BlasForm{Routine::gemm, true, 'T', 'N', 4, 2, 3, 3, 3, 4, {}});
}

TEST_CASE("batch axes are looped outside") {
  const auto form = form_of(key_of("bij,bjk->bik", {{5, 2, 3}, {5, 3, 4}}));
  REQUIRE(form);
  CHECK(form->batch == std::vector<StepAxis>{{5, {6, 12, 8}}});
  CHECK(form->m == 4);
}

TEST_CASE("gemv and dot") {
  CHECK(*form_of(key_of("ij,j->i", {{2, 3}, {3}})) ==
        BlasForm{Routine::gemv, false, 'T', 'N', 2, 1, 3, 3, 1, 1, {}});
  CHECK(*form_of(key_of("j,ji->i", {{3}, {3, 2}})) ==
        BlasForm{Routine::gemv, true, 'N', 'N', 2, 1, 3, 2, 1, 1, {}});
  CHECK(*form_of(key_of("i,i->", {{7}, {7}})) ==
        BlasForm{Routine::dot, false, 'N', 'N', 1, 1, 7, 1, 1, 1, {}});
  CHECK_FALSE(form_of(key_of("i,i->", {{7}, {7}}, DType::c64)));
}

TEST_CASE("conj is a form only as C") {
  PlanKey key = key_of("ij,kj->ik", {{2, 3}, {4, 3}}, DType::c128);
  key.operands[1].conj = true;  // after swapping the first operand is read transposed
  const auto form = form_of(key);
  REQUIRE(form);
  CHECK(form->trans_a == 'C');
  key.operands[0].conj = true;  // read as it stands
  CHECK_FALSE(form_of(key));
}

TEST_CASE("what is no form") {
  CHECK_FALSE(form_of(key_of("i,j->ij", {{2}, {3}})));               // nothing contracted
  CHECK_FALSE(form_of(key_of("abc,cb->a", {{2, 3, 4}, {4, 3}})));    // two contracted axes
  CHECK_FALSE(form_of(key_of("ij->i", {{2, 3}})));                   // one operand
  CHECK_FALSE(form_of(key_of("ijk,kl->ilj", {{2, 3, 4}, {4, 5}})));  // two left axes
  PlanKey key = key_of("ij,jk->ik", {{2, 3}, {3, 4}});
  key.operands[0].type = DType::f32;  // converted on load
  CHECK_FALSE(form_of(key));
  key = key_of("ij,jk->ik", {{2, 3}, {3, 4}});
  key.operands[0].strides = {-3, 1};
  CHECK_FALSE(form_of(key));
  key.operands[0].strides = {0, 1};
  CHECK_FALSE(form_of(key));
  key.operands[0].strides = {6, 2};
  CHECK_FALSE(form_of(key));
  key.operands[0].strides = {2, 1};  // rows overlap: no leading dimension
  CHECK_FALSE(form_of(key));
  key.operands[0].strides = {std::int64_t{1} << 31, 1};
  CHECK_FALSE(form_of(key));
  key.operands[0].strides = {(std::int64_t{1} << 31) - 1, 1};
  CHECK(form_of(key));
}

TEST_CASE("a vector with gaps is a vector, a backward one is not") {
  PlanKey key = key_of("ij,j->i", {{2, 3}, {3}});
  key.operands[1].strides = {5};
  CHECK(form_of(key)->ldb == 5);
  key.operands[1].strides = {-1};
  CHECK_FALSE(form_of(key));
}

}  // namespace
}  // namespace einjit
