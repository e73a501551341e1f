// Tests of binding expressions to shapes: ellipses, implicit outputs, broadcasts, refusals in
// order.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "einjit/error.h"
#include "einjit/expression.h"

using namespace einjit;
using Shape = std::vector<std::int64_t>;
using Shapes = std::vector<Shape>;

namespace {

Contraction bound(const Expression& e, const Shapes& shapes,
                  const std::vector<LabelExtent>& sizes = {}) {
  const std::vector<std::span<const std::int64_t>> spans(shapes.begin(), shapes.end());
  return resolve(e, spans, sizes);
}
Contraction bound(std::string_view text, const Shapes& shapes,
                  const std::vector<LabelExtent>& sizes = {}) {
  return bound(parse(text), shapes, sizes);
}

/// "code: sentence", or "accepted".
std::string refusal(std::string_view text, const Shapes& shapes,
                    const std::vector<LabelExtent>& sizes = {}) {
  try {
    bound(text, shapes, sizes);
  } catch (const Error& e) {
    return std::string(name(e.code())) + ": " + e.what();
  }
  return "accepted";
}
bool refused(ErrorCode code, std::string_view text, const Shapes& shapes,
             const std::vector<LabelExtent>& sizes = {}) {
  const std::string got = refusal(text, shapes, sizes);
  CAPTURE(got);
  CHECK(got.starts_with(std::string(name(code)) + ": "));
  return got.starts_with(std::string(name(code)) + ": ");
}
bool mentions(const std::string& sentence, std::initializer_list<const char*> words) {
  for (const char* word : words)
    if (sentence.find(word) == std::string::npos) {
      MESSAGE(sentence, " lacks ", word);
      return false;
    }
  return true;
}

}  // namespace

TEST_CASE("labels are numbered by first appearance") {
  const Contraction c = bound("zb,ba->az", {{2, 3}, {3, 4}});
  CHECK(c.axes == std::vector<std::vector<LabelId>>{{0, 1}, {1, 2}});
  CHECK(c.output == std::vector<LabelId>{2, 0});
  CHECK(c.extents == Shape{2, 3, 4});
  CHECK(c.names == std::vector<std::string>{"z", "b", "a"});
  CHECK(c.output_shape() == Shape{4, 2});
  Contraction renamed = bound("xy,yq->qx", {{2, 3}, {3, 4}});
  renamed.names = c.names;
  CHECK(renamed == c);
}

TEST_CASE("implicit output: labels that appear once, in code-point order, ellipsis axes first") {
  CHECK(bound("ba", {{2, 3}}).output_shape() == Shape{3, 2});
  CHECK(bound("ij,jh", {{2, 3}, {3, 4}}).output_shape() == Shape{4, 2});
  CHECK(bound("ii", {{2, 2}}).output_shape() == Shape{});
  CHECK(bound("aB", {{2, 3}}).output_shape() == Shape{3, 2});
  CHECK(bound("b...a", {{2, 5, 6, 3}}).output_shape() == Shape{5, 6, 3, 2});
  CHECK(bound(make_expression({{-1, 3, -7}}, {}), {{2, 3, 4}}).output_shape() == Shape{4, 2, 3});
}

TEST_CASE("ellipses are aligned at the right") {
  const Contraction c = bound("...i,j...->...ij", {{7, 5, 2}, {3, 5}});
  CHECK(c.axes == std::vector<std::vector<LabelId>>{{0, 1, 2}, {3, 1}});
  CHECK(c.names == std::vector<std::string>{"…0", "…1", "i", "j"});
  CHECK(c.output_shape() == Shape{7, 5, 2, 3});
  CHECK(bound("...,...->...", {{4, 1}, {3}}).output_shape() == Shape{4, 3});
  CHECK(bound("i->...i", {{2}}).output_shape() == Shape{2});
  CHECK(bound("...i->i", {{2}}).output_shape() == Shape{2});
  CHECK(bound("...,i->i", {{}, {2}}).output_shape() == Shape{2});
  CHECK(mentions(refusal("...,...->...", {{2, 3}, {4, 3}}),
                 {"extent_mismatch", "…0", "2", "4", "operand 0", "operand 1"}));
}

TEST_CASE("extent 1 broadcasts, also against 0") {
  CHECK(bound("i,i->i", {{1}, {3}}).output_shape() == Shape{3});
  CHECK(bound("i,i->i", {{0}, {1}}).output_shape() == Shape{0});
  CHECK(bound("i,i,i->i", {{1}, {1}, {1}}).extents == Shape{1});
  refused(ErrorCode::extent_mismatch, "i,i->", {{0}, {3}});
  refused(ErrorCode::extent_mismatch, "ii->i", {{1, 3}});
  CHECK(bound("ii,i->i", {{1, 1}, {3}}).output_shape() == Shape{3});
}

TEST_CASE("output labels may repeat or be new") {
  CHECK(bound("i->ii", {{3}}).output_shape() == Shape{3, 3});
  CHECK(bound("i->ij", {{2}}, {{'j', 4}}).output_shape() == Shape{2, 4});
  CHECK(bound("i->ijj", {{2}}, {{'j', 0}}).output_shape() == Shape{2, 0, 0});
  CHECK(bound("i->i", {{2}}, {{'i', 2}}).output_shape() == Shape{2});
  CHECK(bound("i,i->i", {{1}, {2}}, {{'i', 2}}).output_shape() == Shape{2});
}

TEST_CASE("each refusal has its code") {
  refused(ErrorCode::operand_count_mismatch, "ij,jk->ik", {{2, 3}});
  refused(ErrorCode::operand_count_mismatch, "ij,jk,->ik", {{2, 3}, {3, 4}});
  refused(ErrorCode::operand_count_mismatch, "", {});
  refused(ErrorCode::rank_mismatch, "", {{3}});
  refused(ErrorCode::rank_mismatch, "...i,ij->...j", {{}, {3, 4}});
  refused(ErrorCode::rank_mismatch, "a...b,bc->ac", {{2}, {2, 3}});
  refused(ErrorCode::invalid_expression, "...i->i", {{2, 3}});
  refused(ErrorCode::invalid_expression, "...ij->ij", {{2, 2, 3}});
  refused(ErrorCode::unknown_output_label, "->i", {{}});
  refused(ErrorCode::extent_mismatch, "i->i", {{1}}, {{'i', 3}});
  refused(ErrorCode::extent_mismatch, "i->ij", {{2}}, {{'j', 3}, {'j', 4}});
  refused(ErrorCode::invalid_argument, "i->i", {{2}}, {{'z', 3}});
  refused(ErrorCode::invalid_argument, "i->ij", {{2}}, {{'j', -3}});
  refused(ErrorCode::invalid_argument, "i->i", {{-2}});
  refused(ErrorCode::size_overflow, "ab,cd->abcd", {{1 << 20, 1 << 20}, {1 << 20, 1 << 20}});
  refused(ErrorCode::size_overflow, "ab,cd->abcd", {{std::int64_t{1} << 31, 65536}, {65536, 3}});
  refused(ErrorCode::size_overflow, "i->i", {{std::int64_t{1} << 59}});
  CHECK(refusal("i->i", {{(std::int64_t{1} << 59) - 1}}) == "accepted");
  CHECK(refusal("abc->abc", {{std::int64_t{1} << 40, std::int64_t{1} << 40, 0}}) == "accepted");
}

TEST_CASE("the first check in order speaks") {
  refused(ErrorCode::operand_count_mismatch, "ij,jk->il", {{2}});
  refused(ErrorCode::invalid_expression, "i,...j->j", {{2, 3}, {4, 5}});
  refused(ErrorCode::rank_mismatch, "ij,jk->il", {{2, 3}, {4}});
  refused(ErrorCode::extent_mismatch, "ij,jk->il", {{2, 3}, {4, 5}});
  refused(ErrorCode::unknown_output_label, "i->il", {{2}}, {{'z', 1}});
  refused(ErrorCode::invalid_argument, "ab,cd->abcd", {{1 << 20, 1 << 20}, {1 << 20, 1 << 20}},
          {{'z', 1}});
}

TEST_CASE("sentences name label, extents, operands and axes") {
  CHECK(mentions(refusal("ab,bc,cd->ad", {{2, 3}, {3, 4}, {5, 6}}),
                 {"label c", "extent 4 on axis 1 of operand 1", "extent 5 on axis 0 of operand 2",
                  "\"bc\"", "\"cd\""}));
  CHECK(mentions(refusal("aabcb,abc", {{3, 3, 4, 5, 6}, {3, 4, 5}}),
                 {"label b", "extent 4", "extent 6"}));
  CHECK(mentions(refusal("i,jk->ik", {{2, 3}, {3, 4}}), {"operand 0", "1 axis", "2 axes"}));
  CHECK(mentions(refusal("ij->ik", {{2, 3}}), {"label k"}));
}

TEST_CASE("many operands and high rank") {
  constexpr int kOperands = 20000;
  std::vector<std::vector<Label>> terms;
  for (int i = 0; i < kOperands; ++i) terms.push_back({-i, -i - 1});
  const Contraction chain = bound(make_expression(terms, {}), Shapes(kOperands, Shape{2, 2}));
  CHECK(chain.output == std::vector<LabelId>{kOperands, 0});
  std::vector<Label> wide(300);
  for (int i = 0; i < 300; ++i) wide[static_cast<std::size_t>(i)] = i;
  CHECK(bound(make_expression({wide}, {}), {Shape(300, 1)}).output.size() == 300);
}

TEST_CASE("refused.jsonl: what resolve refuses, and what it leaves to others") {
  std::ifstream file(EINJIT_SOURCE_DIR "/tests/oracle/refused.jsonl");
  REQUIRE(file.is_open());
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const auto record = nlohmann::json::parse(line);
    const std::string text = record["expr"], code = record["error"];
    CAPTURE(text);
    Shapes shapes;
    for (const auto& operand : record["operands"]) shapes.push_back(operand["shape"]);
    std::string got = "accepted";
    try {
      const Expression e = parse(text);
      std::vector<LabelExtent> sizes;
      const auto given = record.value("sizes", nlohmann::json::object());
      for (const auto& [label, extent] : given.items())
        sizes.push_back({parse(label).inputs[0][0], extent});
      bound(e, shapes, sizes);
    } catch (const Error& e) {
      got = name(e.code());
    }
    const bool later = code.starts_with("destination_") || code == "out_of_bounds";
    CHECK(got == (later ? "accepted" : code));
  }
  CHECK(lines > 70);
}
