// The reference backend: values computed by hand, conversions, conj, scalars, strides, summation.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "einjit/error.h"
#include "runtime/backends.h"
#include "tests/runtime/hand_plan.h"

using namespace einjit;
using namespace einjit::testing;

namespace {

constexpr DType f32 = DType::f32, f64 = DType::f64;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

void run(const Plan& plan, StepPointers pointers) {
  const auto backend = make_reference_backend();
  const auto step = backend->prepare(plan, plan.steps.front());
  REQUIRE(step != nullptr);
  CHECK(step->backend() == "reference");
  CHECK(step->tiles() == 1);
  run_all(*step, pointers);
}

template <class A, class B, class C>
StepPointers pointers_to(const std::vector<A>& a, const std::vector<B>& b, std::vector<C>& c) {
  return {bytes_of(a), bytes_of(b), bytes_of(c), {1, 0}, {0, 0}};
}

}  // namespace

TEST_CASE("reference: a matrix product over NaN") {
  const std::vector<double> a{1, 2, 3, 4, 5, 6}, b{7, 8, 9, 10, 11, 12};
  std::vector<double> c(4, kNan);
  run(hand_plan({{'i', 2}, {'j', 3}, {'k', 2}}, {{"ij"}, {"jk"}, {"ik"}}, {f64, f64, f64}, f64),
      pointers_to(a, b, c));
  CHECK(c == std::vector<double>{58, 64, 139, 154});
}

TEST_CASE("reference: batch, summed and broadcast labels, negative strides, gaps") {
  // c[b,i,z] = Σ_jk a[b,j,k] b[b,i]: j and k live in a alone, z in c alone.
  const std::vector<float> a{1, 2, 3, 4, 5, 6, 7, 8}, b{1, 10, 2, 20};
  std::vector<double> c(16, -1);
  const Plan plan = hand_plan({{'b', 2}, {'i', 2}, {'j', 2}, {'k', 2}, {'z', 2}},
                              {{"bjk"}, {"bi", {2, -1}}, {"biz", {8, 4, 2}}}, {f32, f32, f64}, f64);
  StepPointers p = pointers_to(a, b, c);
  p.b += sizeof(float);
  run(plan, p);
  CHECK(c ==
        std::vector<double>{100, -1, 100, -1, 10, -1, 10, -1, 520, -1, 520, -1, 52, -1, 52, -1});
}

TEST_CASE("reference: one operand: permutation, diagonal, reduction") {
  const std::vector<double> a{1, 2, 3, 4, 5, 6}, none;
  std::vector<double> c(6, kNan);
  run(hand_plan({{'i', 2}, {'j', 3}}, {{"ij"}, {"ji"}}, {f64, f64}, f64), pointers_to(a, none, c));
  CHECK(c == std::vector<double>{1, 4, 2, 5, 3, 6});
  std::vector<double> sum(1, kNan);
  run(hand_plan({{'i', 2}}, {{"i", {4}}, {""}}, {f64, f64}, f64), pointers_to(a, none, sum));
  CHECK(sum.front() == 6);
}

TEST_CASE("reference: complex products have no special rules, conj and real factors") {
  const std::vector<c128> a{{1, 2}, {kInf, 0}};
  const std::vector<c64> b{{3, 4}, {0, 1}};
  std::vector<c128> c(2);
  run(hand_plan({{'i', 2}}, {{"i"}, {"i", {}, true}, {"i"}}, {DType::c128, DType::c64, DType::c128},
                DType::c128),
      pointers_to(a, b, c));
  CHECK(c[0] == c128(11, 2));      // (1 + 2i)(3 − 4i)
  CHECK(std::isnan(c[1].real()));  // ∞·0 − 0·(−1)
  CHECK(c[1].imag() == -kInf);
  const std::vector<double> real{2, 3};
  run(hand_plan({{'i', 2}}, {{"i"}, {"i"}, {"i"}}, {f64, DType::c64, DType::c128}, DType::c128),
      pointers_to(real, b, c));
  CHECK(c == std::vector<c128>{{6, 8}, {0, 3}});
}

TEST_CASE("reference: alpha multiplies the finished sum, beta zero never reads") {
  const std::vector<double> a{1, 2}, b{3, 4};
  const auto plan = [](AlphaClass alpha, BetaClass beta) {
    return hand_plan({{'i', 2}}, {{"i"}, {"i"}, {""}}, {f64, f64, f64}, f64, {alpha, beta});
  };
  std::vector<double> c{100};
  StepPointers p = pointers_to(a, b, c);
  p.alpha = {3, 0};
  p.beta = {0.5, 0};
  run(plan(AlphaClass::general, BetaClass::general), p);
  CHECK(c[0] == 83);
  run(plan(AlphaClass::one, BetaClass::one), p);
  CHECK(c[0] == 94);
  c[0] = kNan;
  run(plan(AlphaClass::general, BetaClass::zero), p);
  CHECK(c[0] == 33);
}

TEST_CASE("reference: a destination wider than the result gets one conversion") {
  const std::vector<float> a{1, 0x1p-24f}, b{1, 1};
  std::vector<c128> c{{kNan, kNan}};
  run(hand_plan({{'i', 2}}, {{"i"}, {"i"}, {""}}, {f32, f32, DType::c128}, f32),
      pointers_to(a, b, c));
  CHECK(c[0] == c128(1, 0));  // 1 + 2^-24 rounds to 1 in f32
}

TEST_CASE("reference: long sums of f32 stay right") {
  const std::vector<float> one{1}, none;
  std::vector<float> c(1);
  run(hand_plan({{'i', 20000000}}, {{"i", {0}}, {""}}, {f32, f32}, f32), pointers_to(one, none, c));
  CHECK(c[0] == 2e7f);
  constexpr std::int64_t kTerms = 1 << 16;
  std::vector<float> small(kTerms, 0x1p-24f);
  small[0] = 1;
  run(hand_plan({{'i', kTerms}}, {{"i"}, {""}}, {f32, f32}, f32), pointers_to(small, none, c));
  const double exact = 1 + (kTerms - 1) * 0x1p-24;
  CHECK(std::abs(c[0] - exact) <= 0x1p-23 * (128 + 2 * 16 + 4) * exact);
}

TEST_CASE("reference: empty spaces") {
  const std::vector<double> a{kNan}, none;
  std::vector<double> c(3, -1);
  run(hand_plan({{'i', 3}, {'j', 0}}, {{"ij"}, {"i"}}, {f64, f64}, f64), pointers_to(a, none, c));
  CHECK(c == std::vector<double>{0, 0, 0});
  c.assign(3, -1);
  run(hand_plan({{'i', 3}, {'j', 0}}, {{"ij"}, {"ij"}}, {f64, f64}, f64), pointers_to(a, none, c));
  CHECK(c == std::vector<double>{-1, -1, -1});
}

TEST_CASE("reference: rank 64 and more, with axes of extent 1") {
  std::map<char, std::int64_t> extents;
  std::string labels;
  for (char l = '!'; labels.size() < 70; ++l) {
    labels += l;
    extents[l] = labels.size() % 10 == 0 ? 2 : 1;
  }
  std::vector<double> a(128), c(128, kNan);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i);
  const std::vector<double> none;
  run(hand_plan(extents, {{labels}, {std::string(labels.rbegin(), labels.rend())}}, {f64, f64},
                f64),
      pointers_to(a, none, c));
  CHECK(c[1] == 64);
  CHECK(c[64] == 1);
  CHECK(c[127] == 127);
  Plan endless =
      hand_plan(extents, {{labels, std::vector<std::int64_t>(70, 0)}, {""}}, {f64, f64}, f64);
  endless.contraction.extents.assign(70, 2);
  CHECK_THROWS_AS(make_reference_backend()->prepare(endless, endless.steps.front()), Error);
}
