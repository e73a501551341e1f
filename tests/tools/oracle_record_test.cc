// Reading the oracle's records: fields, defaults, faults; and that a wrong answer is noticed.
#include "tools/oracle_record.h"

#include <doctest/doctest.h>

#include <string>

#include "einjit/einsum.h"
#include "tools/oracle_replay.h"

using namespace einjit;

namespace {

const std::string kDot =
    R"("expr":"i,i->","dtype":"f64","operands":[{"shape":[3],"strides":[1],"offset":0,"size":3,"seed":1,"amp":3},)"
    R"({"shape":[3],"strides":[-1],"offset":2,"size":3,"seed":2,"amp":3,"dtype":"f32"}],)"
    R"("out":{"shape":[],"strides":[],"offset":1,"size":2})";

Outcome outcome_of(const std::string& expectation) {
  Engine engine = Engine::make();
  EinsumOptions options;
  options.backend = "reference";
  return replay(ExecContext::serial(engine),
                parse_oracle_record("{\"id\":\"t\"," + kDot + "," + expectation + "}"), options, {})
      .outcome;
}

ErrorCode code_of(const std::string& line) {
  try {
    (void)parse_oracle_record(line);
  } catch (const Error& e) {
    return e.code();
  }
  FAIL("no error: " << line);
  return ErrorCode::unsupported;
}

}  // namespace

TEST_CASE("fields and defaults of a record") {
  const OracleRecord r = parse_oracle_record("{\"id\":\"t\"," + kDot +
                                             R"(,"alpha":[2,-1],"sizes":{"é":4},"expect":[7]})");
  CHECK(r.expression == "i,i->");
  REQUIRE(r.operands.size() == 2);
  CHECK(r.operands[0].type == DType::f64);
  CHECK(r.operands[1].type == DType::f32);
  CHECK(r.operands[1].strides == Dims{-1});
  CHECK_FALSE(r.operands[0].conj);
  REQUIRE(r.out);
  CHECK_FALSE(r.out->seed);
  CHECK(r.alpha == std::complex<double>(2, -1));
  CHECK(r.beta == 0.0);
  REQUIRE(r.sizes.size() == 1);
  CHECK(r.sizes[0] == LabelExtent{0xE9, 4});
  CHECK(*r.expect == std::vector<std::int64_t>{7});
}

TEST_CASE("a record that cannot be read names its fault") {
  CHECK(code_of("{") == ErrorCode::corrupt_file);
  CHECK(code_of("[]") == ErrorCode::corrupt_file);
  CHECK(code_of("{\"id\":\"t\"," + kDot + "}") == ErrorCode::corrupt_file);
  CHECK(code_of("{\"id\":\"t\"," + kDot + R"(,"expect_fnv1a":"xyz","expect_head":[]})") ==
        ErrorCode::corrupt_file);
  CHECK(code_of(R"({"expr":"i","dtype":"i32","operands":[],"expect":[]})") ==
        ErrorCode::dtype_mismatch);
}

TEST_CASE("right values pass, wrong values, codes and shapes of answers fail") {
  // Operand 0: 13 mod 7 − 3, 21 mod 7 − 3, 31 mod 7 − 3 = 3, −3, 0; operand 1 backwards: 44, 34, 26
  // mod 7 − 3.
  const std::int64_t right = 3 * (44 % 7 - 3) + -3 * (34 % 7 - 3);
  CHECK(outcome_of("\"expect\":[" + std::to_string(right) + "]") == Outcome::passed);
  CHECK(outcome_of("\"expect\":[" + std::to_string(right + 1) + "]") == Outcome::failed);
  CHECK(outcome_of("\"expect\":[" + std::to_string(right) + ",0]") == Outcome::failed);
  CHECK(outcome_of("\"expect_fnv1a\":\"00\",\"expect_head\":[" + std::to_string(right) + "]") ==
        Outcome::failed);
  CHECK(outcome_of("\"error\":\"extent_mismatch\"") == Outcome::failed);
}
