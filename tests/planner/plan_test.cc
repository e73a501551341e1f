// Whole plans: what they compute, how they are ordered, what they refuse.
#include <doctest/doctest.h>

#include <random>

#include "einjit/error.h"
#include "made_plan.h"
#include "random_call.h"

namespace einjit {
namespace {

using test::axes;
using test::key_of;
using test::plan_of;

std::string shown(const std::vector<test::Value>& values) {
  std::string text;
  for (const test::Value& v : values)
    text += "(" + std::to_string(v.real()) + "," + std::to_string(v.imag()) + ") ";
  return text;
}

/// Equal, a NaN being equal to a NaN: what no step may write.
bool same(const std::vector<test::Value>& x, const std::vector<test::Value>& y) {
  const auto equal = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!equal(x[i].real(), y[i].real()) || !equal(x[i].imag(), y[i].imag())) return false;
  return x.size() == y.size();
}

ErrorCode refusal(const PlanKey& key, const Machine& machine = {}, std::string* sentence = nullptr,
                  std::span<const std::string> names = {}) {
  try {
    make_plan(key, machine, {}, names);
  } catch (const Error& e) {
    if (sentence != nullptr) *sentence = e.what();
    return e.code();
  }
  FAIL("no refusal");
  return {};
}

TEST_CASE("random plans compute the defining sum, by nests and by BLAS forms, and read back") {
  test::CallMaker maker(1);
  int blas_steps = 0, intermediates = 0, tabled = 0;
  for (int n = 0; n < 4000; ++n) {
    const test::Call call = maker.call(5);
    const Plan plan = plan_of(call.key);
    const std::string text = to_text(plan);
    INFO(text);
    const test::Buffer wanted = test::defining_sum(call);
    for (const bool blas : {false, true}) {
      test::Interpreter interpreter(plan, call.operands, call.destination, call.alpha, call.beta,
                                    blas);
      const test::Buffer found = interpreter.run();
      INFO("wanted " << shown(wanted.data) << "\nfound  " << shown(found.data));
      REQUIRE(same(wanted.data, found.data));
    }
    REQUIRE(parse_plan(text) == plan);
    for (const Step& step : plan.steps) {
      blas_steps += step.blas.has_value();
      intermediates += plan.tensors[static_cast<std::size_t>(step.c)].place == Place::intermediate;
      for (const auto& group : step.geometry) tabled += group.size() > 1;
    }
  }
  CHECK(blas_steps > 300);
  CHECK(intermediates > 4000);
  CHECK(tabled > 500);
}

TEST_CASE("the steps' multiply-adds are the costs") {
  test::CallMaker maker(2);
  for (int n = 0; n < 500; ++n) {
    const Plan plan = plan_of(maker.call(6).key);
    double flops = 0;
    bool moves = false;  // a last step that only converts or repeats is no step of the tree
    for (const Step& step : plan.steps) {
      flops += step.flops;
      moves |=
          step.b < 0 && plan.tensors[static_cast<std::size_t>(step.c)].place == Place::destination;
    }
    if (plan.steps.empty() || moves) continue;
    INFO(to_text(plan));
    CHECK(flops == plan.costs.flops);
  }
}

TEST_CASE("renaming labels and permuting axes consistently changes no step") {
  std::mt19937_64 random(3);
  const std::vector<std::vector<Label>> terms{{0, 1, 2, 3}, {2, 3, 4, 5}, {5, 1, 6}, {6, 4, 7}};
  const std::int64_t extents[] = {2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<Step> first;
  for (int n = 0; n < 50; ++n) {
    std::vector<Label> fresh{0, 1, 2, 3, 4, 5, 6, 7};
    if (n > 0) std::shuffle(fresh.begin(), fresh.end(), random);
    Expression expression;
    std::vector<test::Shape> shapes;
    std::vector<Layout> layouts;
    const auto permuted = [&](const std::vector<Label>& term) {
      test::Shape shape;
      for (const Label l : term) shape.push_back(extents[l]);
      const Layout straight = test::row_major(shape);
      std::vector<std::size_t> order(term.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      if (n > 0) std::shuffle(order.begin(), order.end(), random);
      std::vector<Label> labels;
      Layout layout{DType::f64, {}, {}, false};
      for (const std::size_t i : order) {
        labels.push_back(fresh[static_cast<std::size_t>(term[i])]);
        layout.extents.push_back(straight.extents[i]);
        layout.strides.push_back(straight.strides[i]);
      }
      return std::pair(labels, layout);
    };
    PlanKey key;
    for (const auto& term : terms) {
      const auto [labels, layout] = permuted(term);
      expression.inputs.push_back(labels);
      key.operands.push_back(layout);
      shapes.push_back(layout.extents);
    }
    const auto [labels, destination] = permuted({7, 0});
    expression.output = labels;
    key.destination = destination;
    const std::vector<std::span<const std::int64_t>> spans(shapes.begin(), shapes.end());
    key.contraction = resolve(expression, spans);
    key.options.path = LinearPath{{0, 1}, {0, 2}, {0, 1}};
    const Plan plan = plan_of(key);
    if (n == 0) first = plan.steps;
    REQUIRE(plan.steps == first);
  }
}

TEST_CASE("labels of one operand alone are summed before its join") {
  const Plan plan = plan_of(key_of("nlp,nlq->l", {{3, 4, 5}, {3, 4, 6}}));
  REQUIRE(plan.steps.size() == 3);
  CHECK(plan.steps[0].b == -1);
  CHECK(plan.steps[0].flops == 60);
  CHECK(plan.steps[1].b == -1);
  CHECK(plan.steps[1].flops == 72);
  CHECK(plan.steps[2].flops == 12);
  CHECK(plan.steps[0].wave == plan.steps[1].wave);
  CHECK(plan.steps[2].wave == plan.steps[1].wave + 1);
  CHECK(plan.tensors[2].labels == std::vector<LabelId>{0, 1});
  CHECK(plan.arena_bytes == 2 * 128);
}

TEST_CASE("a label that no operand holds comes by a last step that repeats") {
  const LabelExtent sizes[] = {{'z', 5}};
  const Plan plan = plan_of(key_of("ij,jk->izk", {{2, 3}, {3, 4}}, DType::f64, sizes));
  REQUIRE(plan.steps.size() == 2);
  CHECK(plan.steps[1].b == -1);
  const auto& left = axes(plan.steps[1], AxisGroup::left);
  REQUIRE(left.size() == 3);
  CHECK(left[0] == StepAxis{2, {4, 0, 20}});
  CHECK(left[1] == StepAxis{5, {0, 0, 4}});
  CHECK(left[2] == StepAxis{4, {1, 0, 1}});
}

TEST_CASE("a wider destination is filled by one conversion at the end") {
  PlanKey key = key_of("ij,jk->ik", {{2, 3}, {3, 4}}, DType::f32);
  key.destination.type = DType::c128;
  key.alpha = key.beta = ScalarClass::general;
  const Plan plan = plan_of(key);
  REQUIRE(plan.steps.size() == 2);
  CHECK(
      to_text(plan.steps[0].kernel) ==
      "f32 a:f32 b:f32 c:f32 left{*:r0r} right{*:0uu} contracted{*:ur0} alpha=* beta=0 sum=256/1");
  CHECK(to_text(plan.steps[1].kernel) == "c128 a:f32 c:c128 left{*:u0u} alpha=1 beta=* sum=256/1");
}

TEST_CASE("diagonal writes, alpha zero and empty sums") {
  PlanKey key = key_of("i->ii", {{3}});
  Plan plan = plan_of(key);
  REQUIRE(plan.steps.size() == 2);
  CHECK(plan.steps[0].reason == FillReason::off_diagonal);
  CHECK(plan.steps[1].kernel.beta == BetaClass::zero);
  CHECK(axes(plan.steps[1], AxisGroup::left)[0] == StepAxis{3, {1, 0, 4}});
  key.beta = ScalarClass::general;
  plan = plan_of(key);
  CHECK(plan.steps[0].kind == StepKind::scale);
  CHECK(plan.steps[1].kernel.beta == BetaClass::one);
  key.beta = ScalarClass::one;
  plan = plan_of(key);
  CHECK(plan.steps.size() == 1);
  CHECK(plan.steps[0].kernel.beta == BetaClass::one);

  PlanKey zero = key_of("ij,jk->ik", {{2, 3}, {3, 4}});
  zero.alpha = ScalarClass::zero;
  CHECK(plan_of(zero).steps[0].reason == FillReason::alpha_zero);
  zero.beta = ScalarClass::one;
  CHECK(plan_of(zero).steps.empty());
  zero.beta = ScalarClass::general;
  CHECK(plan_of(zero).steps[0].kind == StepKind::scale);

  CHECK(plan_of(key_of("ij,jk->ik", {{2, 0}, {0, 4}})).steps[0].reason == FillReason::empty_sum);
  CHECK(plan_of(key_of("ij,jk->ik", {{0, 3}, {3, 4}})).steps.empty());
}

TEST_CASE("scalars, broadcast axes and one operand") {
  CHECK(plan_of(key_of(",->", {{}, {}})).steps[0].flops == 1);
  CHECK(plan_of(key_of("->", {{}})).steps[0].kernel.unary);
  const Plan reduce = plan_of(key_of("ij->", {{3, 5}}));
  REQUIRE(reduce.steps.size() == 1);
  CHECK(axes(reduce.steps[0], AxisGroup::contracted) == std::vector<StepAxis>{{15, {1, 0, 0}}});
  CHECK(reduce.steps[0].kernel.group(AxisGroup::contracted).extent == 15);
  CHECK(reduce.steps[0].kernel.sum_order == SumOrder{256, 16});
  const Plan broadcast = plan_of(key_of("ij,jk->ik", {{2, 1}, {3, 4}}));
  REQUIRE(broadcast.steps.size() == 2);  // k is summed over j alone, then multiplied
  CHECK(broadcast.steps[1].kernel.group(AxisGroup::contracted).present == false);
}

TEST_CASE("backends") {
  Machine machine;
  machine.blas_available = true;
  PlanKey product = key_of("ij,jk->ik", {{300, 300}, {300, 300}});
  CHECK(make_plan(product, machine, {}).steps[0].backend == "blas");
  CHECK(make_plan(product, machine, {}).steps[0].fallbacks ==
        std::vector<std::string>{"jit", "reference"});
  CHECK(make_plan(product, {}, {}).steps[0].backend == "jit");
  product.options.accuracy = Accuracy::strict;
  CHECK(make_plan(product, machine, {}).steps[0].backend == "jit");
  product.options.backend = "blas!";
  std::string sentence;
  CHECK(refusal(product, machine, &sentence) == ErrorCode::unsupported);
  CHECK(sentence.find("step 0") != std::string::npos);
  CHECK(sentence.find("strict") != std::string::npos);

  PlanKey small = key_of("ij,jk->ik", {{2, 2}, {2, 2}});
  CHECK(make_plan(small, machine, {}).steps[0].backend == "jit");
  small.options.backend = "blas";
  CHECK(make_plan(small, machine, {}).steps[0].backend == "blas");
  small.options.backend = "jit!";
  CHECK(make_plan(small, machine, {}).steps[0].fallbacks.empty());
  small.options.backend = "reference";
  CHECK(make_plan(small, machine, {}).steps[0].backend == "reference");
  small.options.backend = "gpu";
  CHECK(refusal(small, machine, &sentence) == ErrorCode::invalid_argument);
  CHECK(sentence.find("'gpu'; there are: auto, reference, jit, jit!, blas, blas!") !=
        std::string::npos);

  PlanKey pointwise = key_of("i,i->i", {{4}, {4}});
  pointwise.options.backend = "blas";
  CHECK(make_plan(pointwise, machine, {}).steps[0].backend == "jit");
  pointwise.options.backend = "blas!";
  CHECK(refusal(pointwise, machine) == ErrorCode::unsupported);
}

TEST_CASE("the memory limit names both numbers and the largest intermediate") {
  PlanKey key = key_of("ab,bc,cd->ad", {{100, 2}, {2, 100}, {100, 3}});
  key.options.path = LinearPath{{0, 1}, {0, 1}};
  key.options.memory_limit_bytes = 79999;
  const std::string names[] = {"row", "b", "col", "d"};
  std::string sentence;
  CHECK(refusal(key, {}, &sentence, names) == ErrorCode::memory_limit_exceeded);
  CHECK(sentence.find("80000 bytes") != std::string::npos);
  CHECK(sentence.find("79999") != std::string::npos);
  CHECK(sentence.find("rowcol has 80000") != std::string::npos);
  key.options.memory_limit_bytes = 80000;
  CHECK(plan_of(key).arena_bytes == 80000);
  key.options.path.reset();  // another order fits
  key.options.memory_limit_bytes = 4000;
  CHECK(plan_of(key).arena_bytes <= 4000);
  key.options.backend = "blas!";  // the limit is checked before what a backend can do
  key.options.memory_limit_bytes = 1;
  CHECK(refusal(key) == ErrorCode::memory_limit_exceeded);
}

TEST_CASE("sizes past 2^63 are refused by name") {
  PlanKey key = key_of("ab,cd,abcd->", {{1 << 20, 1 << 20}, {1 << 20, 1 << 20}, {1, 1, 1, 1}});
  key.operands[2].extents = {1 << 20, 1 << 20, 1 << 20, 1 << 20};
  key.contraction.shapes[2] = key.operands[2].extents;
  key.options.path = LinearPath{{0, 1}, {0, 1}};
  std::string sentence;
  CHECK(refusal(key, {}, &sentence) == ErrorCode::size_overflow);
  CHECK(sentence.find("abcd") != std::string::npos);
}

TEST_CASE("a chain of 20,000 matrices") {
  constexpr int kMatrices = 20000;
  Expression expression;
  for (Label i = 0; i < kMatrices; ++i) expression.inputs.push_back({i, i + 1});
  expression.output = std::vector<Label>{0, kMatrices};
  const test::Shape shape{2, 2};
  const std::vector<std::span<const std::int64_t>> spans(kMatrices, shape);
  PlanKey key;
  key.contraction = resolve(expression, spans);
  key.contraction.names.clear();
  key.operands.assign(kMatrices, test::row_major(shape));
  key.destination = test::row_major(shape);
  const Plan plan = plan_of(key);
  CHECK(plan.steps.size() == kMatrices - 1);
  CHECK(parse_plan(to_text(plan)) == plan);
}

TEST_CASE("explain names every step") {
  const PlanKey key = key_of("ij,jk,kl->il", {{20, 30}, {30, 40}, {40, 5}});
  const Plan plan = plan_of(key);
  const std::string text = explain(plan);
  CHECK(text.find("gemm") != std::string::npos);
  CHECK(text.find("bc,cd→bd") != std::string::npos);
  const std::string json = explain_json(plan);
  CHECK(json.find("\"form\": \"gemm\"") != std::string::npos);
  CHECK(explain(plan_of(key_of("ii->i", {{4, 4}}))).find("diagonal") != std::string::npos);
  CHECK(explain(plan_of(key_of("ij->ji", {{4, 5}}))).find("permute") != std::string::npos);
  CHECK(explain(plan_of(key_of("i->ii", {{4}}))).find("off the diagonal") != std::string::npos);
}

}  // namespace
}  // namespace einjit
