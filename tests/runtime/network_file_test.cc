// Network files: what is read, what is refused by which key, and the operands drawn for them.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "einjit/error.h"
#include "runtime/network_file.h"

using namespace einjit;

namespace {

const std::string kSmall = R"({"name": "small", "inputs": [[0, 1], [1, -7], []], "output": [-7, 9],
  "extents": {"0": 2, "1": 3, "-7": 5, "9": 4}, "dtype": "c64", "source": "hand",
  "paths": {"left": {"path": [[0, 1], [0, 1]], "log10_flops": 1.0}}})";

std::string refusal(const std::string& text) {
  try {
    parse_network(text, "n.json");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::corrupt_file);
    CHECK(std::string(e.what()).find("n.json") == 0);
    return e.what();
  }
  return "accepted";
}

/// The small network with one piece of its text replaced.
std::string with(const std::string& piece, const std::string& other) {
  std::string text = kSmall;
  const std::size_t at = text.find(piece);
  REQUIRE(at != std::string::npos);
  return text.replace(at, piece.size(), other);
}

bool mentions(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("network file: expression, shapes, sizes and paths") {
  const NetworkFile n = parse_network(kSmall);
  CHECK(n.name == "small");
  CHECK(n.type == DType::c64);
  CHECK(n.expression == make_expression({{0, 1}, {1, -7}, {}}, std::vector<Label>{-7, 9}));
  CHECK(n.shapes == std::vector<std::vector<std::int64_t>>{{2, 3}, {3, 5}, {}});
  CHECK(n.sizes == std::vector<LabelExtent>{{9, 4}});
  CHECK(n.paths.at("left") == LinearPath{{0, 1}, {0, 1}});
  CHECK(parse_network(with("\"paths\"", "\"others\"")).paths.empty());
}

TEST_CASE("network file: refusals name the key") {
  CHECK(mentions(refusal("{"), "no JSON"));
  CHECK(mentions(refusal("[1]"), "object"));
  for (const char* key : {"name", "inputs", "output", "extents", "dtype"})
    CHECK(mentions(refusal(with("\"" + std::string(key) + "\"", "\"x\"")),
                   "'" + std::string(key) + "'"));
  CHECK(mentions(refusal(with("\"c64\"", "\"i8\"")), "'dtype' is not f32, f64, c64 or c128"));
  CHECK(mentions(refusal(with("\"small\"", "3")), "'name'"));
  CHECK(mentions(refusal(with("[1, -7]", "[1, 8]")), "'inputs[1]' holds label 8"));
  CHECK(mentions(refusal(with("[1, -7]", "[1, 0.5]")), "'inputs[1][1]'"));
  CHECK(mentions(refusal(with("[1, -7]", "[1, 4294967296]")), "4294967296"));
  CHECK(mentions(refusal(with("[1, -7]", "[1, -2147483648]")), "no label"));
  CHECK(mentions(refusal(with("[1, -7]", "7")), "'inputs[1]' is not a list"));
  CHECK(mentions(refusal(with("[-7, 9]", "[-7, 10]")), "'output' holds label 10"));
  CHECK(mentions(refusal(with("\"1\": 3", "\"1\": -3")), "'extents.1' is negative"));
  CHECK(mentions(refusal(with("\"1\": 3", "\"1\": 18446744073709551615")), "'extents.1'"));
  CHECK(mentions(refusal(with("\"1\": 3", "\"1\": 1e30")), "'extents.1'"));
  CHECK(mentions(refusal(with("\"1\": 3", "\"1\": \"3\"")), "'extents.1'"));
  CHECK(mentions(refusal(with("\"1\": 3", "\"one\": 3")), "'extents.one'"));
  CHECK(mentions(refusal(with("\"1\": 3", "\"00\": 3")), "second extent"));
  CHECK(mentions(refusal(with("[0, 1], [0, 1]]", "[0, -1]]")), "'paths.left.path[0][1]'"));
  CHECK(mentions(refusal(with("[0, 1], [0, 1]]", "[]]")), "'paths.left.path[0]'"));
  CHECK(mentions(refusal(with("\"path\"", "\"way\"")), "'paths.left' has no key 'path'"));
  CHECK(mentions(refusal(with("[[0, 1], [1, -7], []]", "[]")), "'inputs' is empty"));
}

TEST_CASE("network file: a missing file is an io_error") {
  try {
    read_network("/nowhere/n.json");
    FAIL("read");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::io_error);
    CHECK(mentions(e.what(), "/nowhere/n.json"));
  }
}

TEST_CASE("random operands: a function of seed and position, in (-1, 1), never zero") {
  const Tensor a = random_operand(DType::f64, {40, 50}, 3),
               b = random_operand(DType::f64, {2000}, 3);
  const auto x = a.values<double>(), y = b.values<double>();
  CHECK(std::equal(x.begin(), x.end(), y.begin(), y.end()));
  double mean = 0, square = 0, largest = 0, smallest = 1;
  for (const double v : x) {
    mean += v / 2000;
    square += v * v / 2000;
    largest = std::max(largest, std::abs(v));
    smallest = std::min(smallest, std::abs(v));
  }
  CHECK(std::abs(mean) < 0.05);
  CHECK(square == doctest::Approx(1.0 / 3).epsilon(0.05));
  CHECK(largest < 1);
  CHECK(smallest > 0);
  const Tensor f = random_operand(DType::f32, {2000}, 3),
               z = random_operand(DType::c128, {1000}, 3);
  CHECK(f.values<float>()[7] == static_cast<float>(x[7]));
  CHECK(z.values<c128>()[7] == c128(x[14], x[15]));
  CHECK(random_operand(DType::f64, {1}, 4).values<double>()[0] != x[0]);
  CHECK(random_operand(DType::c64, {3, 0}, 4).size() == 0);
}
