// Tests of trees as text.
#include <doctest/doctest.h>

#include <string>

#include "einjit/error.h"
#include "einjit/tree.h"

using namespace einjit;

TEST_CASE("trees print and read back") {
  const ContractionTree left{3, {{0, 1}, {3, 2}}};
  CHECK(to_text(left) == "((0,1),2)");
  CHECK(parse_tree("((0,1),2)") == left);
  CHECK(parse_tree(" ( ( 0 , 1 ) , 2 ) ") == left);
  CHECK(to_text(ContractionTree{1, {}}) == "0");
  CHECK(parse_tree("0") == ContractionTree{1, {}});
  CHECK(to_text(ContractionTree{3, {{2, 0}, {1, 3}}}) == "(1,(2,0))");
}

TEST_CASE("an order that is not depth-first is kept by numbers") {
  const ContractionTree tree{4, {{2, 3}, {0, 1}, {5, 4}}};
  CHECK(to_text(tree) == "((0,1)5,(2,3)4)6");
  CHECK(parse_tree(to_text(tree)) == tree);
}

TEST_CASE("malformed trees are invalid_path") {
  for (const char* text : {"", "(", "(0,1", "(0,1))", "(0)", "(0,1,2)", "(0,0)", "(0,2)", "1",
                           "(0,1),2", "0,1", "((0,1)3,2)", "((0,1)4,2)3", "((0,1)3,2)3",
                           "((0,1)9,2)4", "x", "(0;1)", "(0,99999999999)", "((0,1),(2,3)4)6"}) {
    CAPTURE(text);
    try {
      parse_tree(text);
      CHECK(false);
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::invalid_path);
    }
  }
}

TEST_CASE("a chain of 20,000 operands, left- and right-leaning") {
  constexpr std::int32_t kLeaves = 20000;
  ContractionTree left{kLeaves, {{0, 1}}}, right{kLeaves, {{kLeaves - 2, kLeaves - 1}}};
  for (std::int32_t i = 2; i < kLeaves; ++i) {
    left.joins.push_back({kLeaves + i - 2, i});
    right.joins.push_back({kLeaves - 1 - i, kLeaves + i - 2});
  }
  CHECK(parse_tree(to_text(left)) == left);
  CHECK(parse_tree(to_text(right)) == right);
}
