// The law of plans: each law, broken on purpose, is noticed and named.
#include <doctest/doctest.h>

#include <functional>
#include <stdexcept>

#include "made_plan.h"

namespace einjit {
namespace {

Plan sound() {
  PlanKey key = test::key_of("ab,bc,cd,de->ae", std::vector<test::Shape>(4, {4, 4}));
  key.options.path = LinearPath{{0, 1}, {0, 1}, {0, 1}};
  return test::plan_of(key);
}

std::string broken(const std::function<void(Plan&)>& change) {
  Plan plan = sound();
  change(plan);
  try {
    verify(plan);
  } catch (const std::logic_error& e) {
    const std::string what = e.what();
    return what.substr(0, what.find('\n'));
  }
  return "holds";
}

TEST_CASE("a sound plan holds") {
  CHECK(broken([](Plan&) {}) == "holds");
}

TEST_CASE("tensors") {
  CHECK(broken([](Plan& p) { p.tensors[0].labels[1] = p.tensors[0].labels[0]; }) ==
        "plan: broken law: labels of a tensor are unique (tensor 0)");
  CHECK(broken([](Plan& p) { p.tensors[0].labels[1] = 77; }).find("known") != std::string::npos);
  CHECK(broken([](Plan& p) { p.tensors[0].strides.pop_back(); }).find("stride a label") !=
        std::string::npos);
  CHECK(broken([](Plan& p) { std::swap(p.tensors[0], p.tensors[1]); }).find("in order") !=
        std::string::npos);
  CHECK(broken([](Plan& p) { p.tensors.pop_back(); }).find("destination stands last") !=
        std::string::npos);
  CHECK(broken([](Plan& p) { p.tensors[4].bytes += 8; }).find("dense") != std::string::npos);
  CHECK(broken([](Plan& p) { p.tensors[4].type = DType::f32; }).find("result type") !=
        std::string::npos);
}

TEST_CASE("the arena") {
  CHECK(broken([](Plan& p) {
          p.tensors[5].arena_offset = p.tensors[4].arena_offset;
        }).find("do not overlap") != std::string::npos);
  CHECK(broken([](Plan& p) { p.tensors[5].arena_offset = 8; }).find("aligned") !=
        std::string::npos);
  CHECK(broken([](Plan& p) { p.arena_bytes -= 64; }).find("in the arena") != std::string::npos);
}

TEST_CASE("order and waves") {
  CHECK(broken([](Plan& p) { p.steps[2].wave = 0; }).find("earlier waves") != std::string::npos);
  CHECK(broken([](Plan& p) { p.steps[2].wave = 5; }).find("numbered in order") !=
        std::string::npos);
  CHECK(broken([](Plan& p) {
          std::swap(p.steps[0], p.steps[2]);
          for (std::size_t s = 0; s < 3; ++s) p.steps[s].wave = static_cast<std::int32_t>(s);
        }).find("earlier waves") != std::string::npos);
  CHECK(broken([](Plan& p) { p.steps.pop_back(); }).find("is read") != std::string::npos);
  CHECK(broken([](Plan& p) { p.steps[1].a = 99; }).find("one or two operands") !=
        std::string::npos);
  CHECK(broken([](Plan& p) { p.steps[1].c = 0; }).find("written by one step") != std::string::npos);
  CHECK(broken([](Plan& p) { p.steps[1].a = 0; }).find("read by one step") != std::string::npos);
}

TEST_CASE("labels, geometry, kernels and BLAS forms") {
  CHECK(broken([](Plan& p) { p.steps[0].geometry[1][0].extent = 5; }).find("canonical") !=
        std::string::npos);
  CHECK(broken([](Plan& p) {
          p.steps[0].kernel.group(AxisGroup::left).tabled = true;
        }).find("groups are the geometry's") != std::string::npos);
  CHECK(broken([](Plan& p) {
          p.steps[0].kernel.group(AxisGroup::left).extent = 9;
        }).find("fixed extent") != std::string::npos);
  CHECK(broken([](Plan& p) {
          p.steps[0].kernel.group(AxisGroup::left).strides[0] = StrideClass::unit;
        }).find("stride classes") != std::string::npos);
  CHECK(broken([](Plan& p) { p.steps[0].kernel.beta = BetaClass::one; }).find("overwritten") !=
        std::string::npos);
  CHECK(broken([](Plan& p) { p.steps[0].blas->m = 9; }).find("BLAS form") != std::string::npos);
  CHECK(broken([](Plan& p) { p.steps[0].backend.clear(); }).find("backend") != std::string::npos);
  CHECK(broken([](Plan& p) {  // d is needed by the last step
          p.tensors[5].labels = {2};
          p.tensors[5].strides = {1};
          p.tensors[5].bytes = 32;
        })
            .find("summed by the last step that has it") != std::string::npos);
}

}  // namespace
}  // namespace einjit
