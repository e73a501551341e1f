// Plans as text: what is damaged is refused with its line.
#include <doctest/doctest.h>

#include "einjit/error.h"
#include "made_plan.h"

namespace einjit {
namespace {

std::string sample() {
  PlanKey key = test::key_of("(ij,jk),kl->il", {{2, 3}, {3, 4}, {4, 5}}, DType::c64);
  key.operands[0].conj = true;
  key.beta = ScalarClass::general;
  return to_text(test::plan_of(key));
}

std::string refusal(const std::string& text) {
  try {
    parse_plan(text);
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::corrupt_file);
    return e.what();
  }
  FAIL("read");
  return {};
}

TEST_CASE("a plan reads back equal") {
  const Plan plan = parse_plan(sample());
  CHECK(to_text(plan) == sample());
  CHECK(plan.contraction.nesting.groups.size() == 2);
  CHECK(plan.tensors[0].conj);
  CHECK(plan.beta == ScalarClass::general);
  CHECK_NOTHROW(verify(plan));
}

TEST_CASE("cut off anywhere it is refused or, at its last new line, whole") {
  const std::string text = sample();
  for (std::size_t n = 0; n + 2 < text.size(); ++n) {
    INFO(n);
    CHECK_FALSE(refusal(text.substr(0, n)).empty());
  }
}

TEST_CASE("refusals name the line") {
  std::string text = sample();
  const std::size_t kernel = text.find(" kernel c64");
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(kernel), '\n');
  text.replace(kernel, 11, " kernel c65");
  CHECK(refusal(text).find("line " + std::to_string(line) + ":") != std::string::npos);
  CHECK(refusal("einjit plan 2\n").find("line 1") != std::string::npos);
  CHECK(refusal(sample() + "more\n").find("more") != std::string::npos);
}

TEST_CASE("any one damaged character never does more than be refused or change a value") {
  const std::string text = sample();
  for (std::size_t at = 0; at < text.size(); ++at)
    for (const char c : {'9', ' ', '\n', 'x'}) {
      std::string damaged = text;
      damaged[at] = c;
      try {
        parse_plan(damaged);
      } catch (const Error& e) {
        REQUIRE(e.code() == ErrorCode::corrupt_file);
      }
    }
}

}  // namespace
}  // namespace einjit
