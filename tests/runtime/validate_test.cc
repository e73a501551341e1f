// Checks of views: their order, their sentences, and what they let pass.
#include "runtime/validate.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace einjit {
namespace {

struct Refusal {
  std::string code = "none";
  std::string sentence;
};
Refusal refusal(auto&& action) {
  try {
    action();
  } catch (const Error& e) {
    return {std::string(name(e.code())), e.what()};
  }
  return {};
}
bool holds_word(const Refusal& r, const std::string& word) {
  return r.sentence.find(word) + 1 != 0;
}

struct Call {
  std::vector<double> in = std::vector<double>(12), out = std::vector<double>(12);
  Operand operand{View<double>(in, 0, {3, 4}, {4, 1})};
  Destination destination{MutableView<double>(out, 0, {3, 4}, {4, 1})};
  Refusal check(DType result = DType::f64) {
    const std::vector<std::int64_t> shape{3, 4};
    return refusal([&] { check_views({&operand, 1}, destination, shape, result); });
  }
};

TEST_CASE("validate: a good call passes, in any layout") {
  Call call;
  CHECK(call.check().code == "none");
  call.operand = View<double>(call.in, 11, {3, 4}, {-4, -1});
  call.destination = MutableView<double>(call.out, 8, {3, 4}, {-4, 1});
  CHECK(call.check().code == "none");
  call.operand = View<double>(call.in, 5, {3, 4}, {0, 0});
  CHECK(call.check().code == "none");
}

TEST_CASE("validate: faults are reported in the contract's order") {
  Call call;  // every fault at once, then mended from the first on
  const std::vector<std::int64_t> shape{3, 4};
  call.operand = View<double>(call.in, 1, {3, 4}, {4, 1});
  std::vector<float> narrow(12);
  call.destination = MutableView<float>(narrow, 4, {3, 5}, {1, 1});
  Refusal r = call.check();
  CHECK(r.code == "out_of_bounds");
  CHECK(holds_word(r, "operand 0"));
  CHECK(holds_word(r, "1 to 12 of a buffer of 12"));
  call.operand = View<double>(call.in, 0, {3, 4}, {4, 1});
  CHECK(call.check().code == "dtype_mismatch");
  call.destination = MutableView<double>(call.in, 4, {3, 5}, {1, 1});
  r = call.check();
  CHECK(r.code == "destination_shape_mismatch");
  CHECK(holds_word(r, "(3, 4)"));
  CHECK(holds_word(r, "(3, 5)"));
  call.destination = MutableView<double>(call.in, 8, {3, 4}, {1, 1});
  CHECK(call.check().code == "destination_not_injective");
  call.destination = MutableView<double>(call.in, 8, {3, 4}, {4, 1});
  r = call.check();
  CHECK(r.code == "out_of_bounds");
  CHECK(holds_word(r, "destination"));
  CHECK(holds_word(r, "8 to 19"));
  call.destination = MutableView<double>(call.in, 0, {3, 4}, {4, 1});
  r = call.check();
  CHECK(r.code == "destination_aliases_operand");
  CHECK(holds_word(r, "operand 0"));
  CHECK(holds_word(r, "96 bytes"));
}

TEST_CASE("validate: negative strides leave a buffer at its start") {
  Call call;
  call.operand = View<double>(call.in, 7, {3, 4}, {-4, 1});
  const Refusal r = call.check();
  CHECK(r.code == "out_of_bounds");
  CHECK(holds_word(r, "-1 to 10"));
}

TEST_CASE("validate: ranges that touch do not overlap") {
  std::vector<double> both(24);
  Call call;
  call.operand = View<double>(both, 0, {3, 4}, {4, 1});
  call.destination = MutableView<double>(both, 12, {3, 4}, {4, 1});
  CHECK(call.check().code == "none");
  call.destination = MutableView<double>(both, 11, {3, 4}, {4, 1});
  const Refusal r = call.check();
  CHECK(r.code == "destination_aliases_operand");
  CHECK(holds_word(r, "8 bytes"));
}

TEST_CASE("validate: an empty view touches nothing, wherever it points") {
  std::vector<double> out(4);
  const Operand nowhere(nullptr, DType::f64, {0, 7}, {INT64_MAX, INT64_MIN});
  const Operand far(View<double>(out, 3, {0, 9}, {100, 100}));
  const Operand all[] = {nowhere, far};
  const Destination d(MutableView<double>(out, 0, {4}, {1}));
  const std::vector<std::int64_t> shape{4};
  CHECK(refusal([&] { check_views(all, d, shape, DType::f64); }).code == "none");
}

TEST_CASE("validate: strides that wrap 64 bits are out of bounds, with and without a buffer") {
  Call call;
  for (const std::int64_t stride : {INT64_MAX, INT64_MIN, INT64_MAX / 2, INT64_MIN / 8}) {
    call.operand = View<double>(call.in, 0, {3, 4}, {stride, 1});
    CHECK(call.check().code == "out_of_bounds");
    call.operand = View<double>(call.in.data(), {3, 4}, {stride, 1});
    CHECK(call.check().code == "out_of_bounds");
  }
  call.operand = Operand(nullptr, DType::f64, {3, 4}, {4, 1});
  CHECK(call.check().code == "out_of_bounds");
}

TEST_CASE("validate: 64 axes of the farthest strides do not wrap") {
  const std::vector<std::int64_t> extents(64, INT64_MAX), strides(64, INT64_MIN);
  const Reach reach = reach_of(DType::c128, extents, strides);
  CHECK(reach.low < -(static_cast<__int128>(1) << 64));
  CHECK(reach.high == 16);
}

TEST_CASE("validate: as many strides as extents") {
  Call call;
  call.operand.strides = {4};
  const Refusal r = call.check();
  CHECK(r.code == "rank_mismatch");
  CHECK(holds_word(r, "operand 0 has 2 extents and 1 strides"));
}

TEST_CASE("validate: a wider destination passes, a narrower one never") {
  const std::vector<std::int64_t> e{2}, s{1};
  for (const DType to : kDTypes)
    for (const DType from : kDTypes) {
      const Refusal r = refusal([&] { check_destination_layout(to, e, s, e, from); });
      CHECK(r.code == (holds(to, from) ? "none" : "dtype_mismatch"));
    }
}

}  // namespace
}  // namespace einjit
