// Reading reported cases: fills, layouts, integer labels, destinations, alternatives.
#include "tools/reported_call.h"

#include <doctest/doctest.h>

#include "tools/reported_value.h"

using namespace einjit;
using nlohmann::json;

namespace {

ReportedCall call_of(const char* text) {
  const json reported = json::parse(text);
  return read_call(reported, reported);
}

}  // namespace

TEST_CASE("fill F1 in a buffer with a layout") {
  const ReportedCall call = call_of(
      R"({"expr":"i->","shapes":[[3]],"fill":"F1","layout":[{"strides":[-2],"offset":4}]})");
  CHECK(call.buffers[0].size() == 5);
  CHECK(call.buffers[0].type() == DType::f64);
  CHECK(call.buffers[0].get(0) == -4.0);
  CHECK(call.buffers[0].get(4) == static_cast<double>((28 + 1) % 11 - 5));
  CHECK(call.operands[0].strides == Dims{-2});
}

TEST_CASE("explicit data with NaN and infinities, constants, mixed types") {
  const ReportedCall call =
      call_of(R"({"expr":"i,i->i","shapes":[[2],[2]],"dtype":["f32","c128"],"fill":"explicit",)"
              R"("data":[["nan","-inf"],[[1,2],["inf",0]]]})");
  CHECK(call.result == DType::c128);
  const std::complex<double> nan = call.buffers[0].get(0);
  CHECK(nan != nan);
  CHECK(call.buffers[0].get(1).real() < 0);
  CHECK(call.buffers[1].get(0) == std::complex<double>(1, 2));
  const ReportedCall constant = call_of(
      R"case({"expr":"i->","shapes":[[2]],"dtype":"f32","fill":"constant 1000.1 (as f32)"})case");
  CHECK(constant.buffers[0].get(1).real() == doctest::Approx(1000.1));
}

TEST_CASE("integer labels, and a type that einjit has not") {
  const ReportedCall call = call_of(
      R"({"expr":"labels","labels":[[300,7],[7,-1]],"out_labels":null,"shapes":[[2,3],[3,4]],"fill":"F1"})");
  REQUIRE(call.integers);
  CHECK_FALSE(call.integers->output);
  CHECK(call.integers->inputs[1] == std::vector<Label>{7, -1});
  CHECK_THROWS_AS(call_of(R"({"expr":"i","shapes":[[2]],"dtype":"i32","fill":"F1"})"), Error);
}

TEST_CASE("a destination that shares an operand's buffer") {
  const json reported = json::parse(
      R"({"expr":"i,i->i","shapes":[[4],[4]],"fill":"explicit","data":[[1,2,3,4],[1,1,1,1]],)"
      R"("out":{"buffer_of_operand":0,"offset":1}})");
  ReportedCall call = read_call(reported, reported);
  CHECK(call.buffers[0].size() == 5);
  ReportedOut out = read_out(reported.at("out"), call);
  const Destination destination = out.destination(call, true);
  CHECK(destination.data == call.operands[0].data + 8);
}

TEST_CASE("values are compared in shape, numbers and sums") {
  const FoundValue found{DType::f64, {2}, {1.0, 3.0}};
  CHECK(
      value_difference(json::parse(R"({"expect_shape":[2],"expect_data":[1,3]})"), found).empty());
  CHECK_FALSE(
      value_difference(json::parse(R"({"expect_shape":[2],"expect_data":[1,4]})"), found).empty());
  CHECK_FALSE(value_difference(json::parse(R"({"expect_shape":[1,2]})"), found).empty());
  CHECK(value_difference(json::parse(R"({"expect_check":{"sum":4,"wsum":7}})"), found).empty());
  CHECK_FALSE(
      value_difference(json::parse(R"({"expect_check":{"sum":4,"wsum":8}})"), found).empty());
  CHECK(value_difference(json::parse(R"({"expect_data":[1.0001,3],"tol":{"rel":0.001}})"), found)
            .empty());
  CHECK_FALSE(value_difference(json::parse(R"({"expect_data":["nan",3]})"), found).empty());
}

TEST_CASE("error classes, longest prefix first, and the alternatives we take") {
  CHECK(code_of_class("SyntaxError.bad_char") == ErrorCode::invalid_expression);
  CHECK(code_of_class("DimensionMismatchError.repeated") == ErrorCode::extent_mismatch);
  CHECK(code_of_class("ResourceError.memory_limit") == ErrorCode::memory_limit_exceeded);
  CHECK(code_of_class("ResourceError.memory") == ErrorCode::out_of_memory);
  json taken = json::parse(R"({"id":"C215","expect":"value"})");
  take_alternative(taken);
  CHECK(taken.at("expect") == "error");
  json kept = json::parse(R"({"id":"C154","expect":"value"})");
  take_alternative(kept);
  CHECK(kept.at("expect") == "value");
}
