// Tests of the text forms of expressions: grammar, refusals with their carets, round trips.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "einjit/error.h"
#include "einjit/expression.h"

using namespace einjit;
using Terms = std::vector<std::vector<Label>>;

namespace {

std::string refusal(std::string_view text) {
  try {
    parse(text);
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::invalid_expression);
    return e.what();
  }
  return "accepted";
}

/// Column of the caret, in code points after the two blanks of its line.
std::size_t caret_column(const std::string& sentence) {
  return sentence.size() - sentence.rfind('\n') - 1 - 3;
}

void check_round_trip(std::string_view text) {
  CAPTURE(text);
  const Expression e = parse(text);
  CHECK(parse(to_text(e)) == e);
  CHECK(parse_text(to_text(e)) == e);
}

}  // namespace

TEST_CASE("terms and output") {
  const Expression e = parse("ij,jk->ik");
  CHECK(e.inputs == Terms{{'i', 'j'}, {'j', 'k'}});
  CHECK(e.output == std::vector<Label>{'i', 'k'});
  CHECK(e.nesting.groups.empty());
  CHECK_FALSE(parse("ij,jk").output.has_value());
  CHECK(parse("").inputs == Terms{{}});
  CHECK_FALSE(parse("").output.has_value());
  CHECK(parse("->").output == std::vector<Label>{});
  CHECK(parse(",->").inputs == Terms{{}, {}});
  CHECK(parse("a...b->...").inputs == Terms{{'a', kEllipsis, 'b'}});
  CHECK(parse("αβ,βγ->αγ").inputs == Terms{{0x3B1, 0x3B2}, {0x3B2, 0x3B3}});
  CHECK(parse("\xF0\x9D\x94\xB8").inputs == Terms{{0x1D538}});
}

TEST_CASE("white space stands between tokens") {
  CHECK(parse(" i j ,\tjk\n->\v i\f k\r") == parse("ij,jk->ik"));
  CHECK(parse("( ij , jk ) , kl -> il") == parse("(ij,jk),kl->il"));
  for (const char* text :
       {"ij- >ji", "i. ..->i...", "i.. .->i", "\xC2\xA0i", "\xE3\x80\x80i", "\xC2\x85i"})
    CHECK(refusal(text) != "accepted");
}

TEST_CASE("nesting") {
  using Groups = std::vector<std::vector<std::int32_t>>;
  CHECK(parse("(ij,jk),kl->il").nesting.groups == Groups{{0, 1}, {~0, 2}});
  CHECK(parse("((ij,jk),kl)->il") == parse("(ij,jk),kl->il"));
  CHECK(parse("(ij,jk)->ik") == parse("ij,jk->ik"));
  CHECK(parse("a,(b,(c,d)),e").nesting.groups == Groups{{2, 3}, {1, ~0}, {0, ~1, 4}});
  CHECK(parse("(,),").inputs == Terms{{}, {}, {}});
  for (const char* text :
       {"()", "(ij),jk->ik", "((ij,jk))->ik", "(ij,jk)(kl)->il", "(ij,jk)kl->il", "i(j,k)",
        "(ij,jk->ik", "ij,jk)->ik", "((ij,jk)->ik", "ij,jk->(ik)", ")("})
    CHECK(refusal(text) != "accepted");
}

TEST_CASE("every other fault is refused") {
  for (const char* text : {"ij,jk-ik",
                           "ij,jk>ik",
                           "ij,jk->ik->i",
                           "ij,jk-->ik",
                           "ij,jk->>ik",
                           "i.j",
                           "ij..",
                           "i....j",
                           "...i...",
                           "->i...k...",
                           "i1",
                           "ij;jk",
                           "->i,k",
                           "j%k",
                           "i k!",
                           "=>",
                           "[ij]",
                           "∑i",
                           "ij→ji",
                           "ij，jk",
                           "j_",
                           "a*b",
                           "\xEF\xBB\xBFij",
                           "\xEF\xBF\xBE",
                           "\xEF\xB7\x90",
                           "\xC2\xA9"})
    CHECK_MESSAGE(refusal(text) != "accepted", text);
  CHECK(refusal(std::string_view("ij\0->ji", 7)).find("U+0000") != std::string::npos);
  for (const char* bytes : {"\xFF", "i\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82",
                            "\x80", "\xE0\x80\xAF"})
    CHECK(refusal(bytes).find("UTF-8") != std::string::npos);
}

TEST_CASE("opt_einsum's symbols are labels up to number 5,619") {
  for (std::int32_t number = 52; number <= 5619; ++number) {
    const std::string text = label_text(number + 140);
    REQUIRE(parse(text).inputs == Terms{{number + 140}});
  }
  CHECK(refusal(std::string("\xE1\x9A\x80")) != "accepted");  // number 5,620: U+1680 is white space
}

TEST_CASE("the caret stands under the offending character, counted in code points") {
  CHECK(caret_column(refusal("ij,j%k->ik")) == 4);
  CHECK(caret_column(refusal("αβγ,1")) == 4);
  CHECK(caret_column(refusal("(ij,jk->ik")) == 0);
  CHECK(caret_column(refusal("ij,(jk)->ik")) == 3);
  CHECK(caret_column(refusal("ij->i,k")) == 5);
  CHECK(caret_column(refusal("ab\xFF")) == 2);
  const std::string far = refusal(std::string(1000, 'a') + "!" + std::string(1000, 'b'));
  CHECK(far.size() < 300);
  CHECK(far.find("a!b") != std::string::npos);
}

TEST_CASE("text reads back equal") {
  for (const char* text : {"", "->", ",", "ij,jk->ik", "i...,...j", "(ij,jk),kl->il",
                           "a,(b,(c,d)),e->", "(,),->", "αβ,βγ->αγ", "((a,b),(c,d))->abcd"})
    check_round_trip(text);
}

TEST_CASE("the integer form") {
  const Expression e =
      make_expression({{300000000, 7}, {7, -1, kEllipsis}}, {{300000000, -1, kEllipsis}});
  CHECK(to_text(e) == "[300000000 7],[7 -1 ...]->[300000000 -1 ...]");
  CHECK(parse_text(to_text(e)) == e);
  CHECK(to_text(make_expression({{'i', 'j'}, {'j'}}, {{'i'}})) == "ij,j->i");
  const Expression empty = make_expression({{}, {5}}, {});
  CHECK(to_text(empty) == "[],[5]");
  CHECK(parse_text("[],[ 5 ]") == empty);
  const Expression grouped = make_expression({{1}, {2}, {3}}, {}, {{{0, 1}, {~0, 2}}});
  CHECK(to_text(grouped) == "([1],[2]),[3]");
  CHECK(parse_text(to_text(grouped)) == grouped);
  for (const char* text : {"[1", "[1 2147483648]", "[-2147483648]", "[1-2]", "[a]", "[1],2",
                           "[1] x", "[--1]", "[99999999999999999999]"})
    CHECK_THROWS_AS(parse_text(text), Error);
}

TEST_CASE("a nesting that parentheses in operand order cannot show") {
  const Expression e = make_expression({{'a'}, {'b'}, {'c'}}, {{}}, {{{0, 2}, {~0, 1}}});
  CHECK(to_text(e) == "a,b,c-> | ((0,2),1)");
  CHECK(parse_text(to_text(e)) == e);
  const Expression turned = make_expression({{}, {}, {}, {}}, {}, {{{0, 1}, {2, 3}, {~1, ~0}}});
  CHECK(turned.nesting.groups == std::vector<std::vector<std::int32_t>>{{2, 3}, {0, 1}, {~0, ~1}});
  CHECK(parse_text(to_text(turned)) == turned);
  CHECK_THROWS_AS(parse_text("(a,b),c | ((0,1),2)"), Error);
}

TEST_CASE("the integer form is checked") {
  const Terms three{{1}, {2}, {3}};
  const std::vector<Nesting> wrong = {
      {{{0, 1}}},              // operand 2 in no group
      {{{0}, {~0, 1, 2}}},     // a group of one
      {{{0, 1}, {~0, 1, 2}}},  // operand 1 twice
      {{{0, ~1}, {1, 2}}},     // groups in the wrong order
      {{{0, 1}, {~0, 2, 3}}},  // no operand 3
      {{{0, 1}, {2, 0}}},      // group 0 in no group
      {{{0, 1, 2}, {}}},
  };
  for (const Nesting& nesting : wrong) CHECK_THROWS_AS(make_expression(three, {}, nesting), Error);
  CHECK_THROWS_AS(make_expression({}, {}), Error);
  CHECK_THROWS_AS(make_expression({{kEllipsis, kEllipsis}}, {}), Error);
  CHECK_THROWS_AS(make_expression({{1}}, {{kEllipsis, kEllipsis}}), Error);
}

TEST_CASE("nesting 20,000 deep and 20,000 terms wide") {
  constexpr int kDepth = 20000;
  std::string deep(kDepth, '(');
  deep += "a";
  for (int i = 0; i < kDepth; ++i) deep += ",a)";
  const Expression e = parse(deep);
  CHECK(e.nesting.groups.size() == kDepth);
  CHECK(parse_text(to_text(e)) == e);
  CHECK(refusal(deep + ")") != "accepted");
  CHECK(refusal("(" + deep) != "accepted");

  Terms chain;
  for (int i = 0; i < kDepth; ++i) chain.push_back({i - 5000, i - 4999});
  const Expression wide = make_expression(chain, {});
  CHECK(parse_text(to_text(wide)) == wide);
}
