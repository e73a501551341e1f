// Tests of networks and costs, with figures worked out by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "einjit/tree.h"

using namespace einjit;
using Shape = std::vector<std::int64_t>;
using Shapes = std::vector<Shape>;

namespace {

Contraction bound(std::string_view text, const Shapes& shapes,
                  const std::vector<LabelExtent>& sizes = {}) {
  const std::vector<std::span<const std::int64_t>> spans(shapes.begin(), shapes.end());
  return resolve(parse(text), spans, sizes);
}
Costs costs(std::string_view text, const Shapes& shapes, std::string_view tree,
            const std::vector<LabelExtent>& sizes = {}) {
  return cost_of(network_of(bound(text, shapes, sizes)), parse_tree(tree));
}

}  // namespace

TEST_CASE("a network drops axes of extent 1 and broadcast axes, and merges repeats") {
  const Network n = network_of(bound("iij,jk,k->ijk", {{4, 4, 1}, {3, 1}, {8}}));
  CHECK(n.tensors == std::vector<std::vector<LabelId>>{{0}, {1}, {2}});
  CHECK(n.output == std::vector<LabelId>{0, 1, 2});
  CHECK(n.log2_extents == std::vector<double>{2, std::log2(3.0), 3});
  CHECK(network_of(bound("i->ii", {{2}})).output == std::vector<LabelId>{0});
  CHECK(network_of(bound("i->i", {{0}})).log2_extents[0] ==
        -std::numeric_limits<double>::infinity());
}

TEST_CASE("matrix product") {
  const Costs c = costs("ij,jk->ik", {{8, 16}, {16, 32}}, "(0,1)");
  CHECK(c.flops == 8 * 16 * 32);
  CHECK(c.tc == 12);
  CHECK(c.sc == 8);
  CHECK(c.rwc == doctest::Approx(std::log2(8 * 16 + 16 * 32 + 8 * 32)));
}

TEST_CASE("chain: order decides") {
  const Shapes shapes{{10, 1000}, {1000, 10}, {10, 1000}, {1000, 10}};
  CHECK(costs("ij,jk,kl,lm->im", shapes, "((0,1),(2,3))").flops == 201000);
  CHECK(costs("ij,jk,kl,lm->im", shapes, "(0,(1,(2,3)))").flops == 100000 + 100000 + 100000);
  CHECK(costs("ij,jk,kl,lm->im", shapes, "(0,((1,2),3))").sc == doctest::Approx(std::log2(1e6)));
}

TEST_CASE("labels of one operand are summed before: in flops and rwc, not in tc") {
  const Costs c = costs("nlp,nlq->l", {{30, 30, 30}, {30, 30, 30}}, "(0,1)");
  CHECK(c.flops == 27000 + 27000 + 900);
  CHECK(c.tc == doctest::Approx(std::log2(900)));
  CHECK(c.sc == doctest::Approx(std::log2(900)));
  CHECK(c.rwc == doctest::Approx(std::log2(2 * (27000 + 900) + 900 + 900 + 30)));
}

TEST_CASE("one operand is one step") {
  const Costs sum = costs("ij->i", {{4, 8}}, "0");
  CHECK(sum.flops == 32);
  CHECK(sum.tc == 0);
  CHECK(sum.sc == 2);
  CHECK(sum.rwc == doctest::Approx(std::log2(36)));
  CHECK(costs("->", {{}}, "0").flops == 1);
}

TEST_CASE("new output labels are a last one-operand step") {
  const Costs c = costs("i,i->iz", {{4}, {4}}, "(0,1)", {{'z', 8}});
  CHECK(c.flops == 4 + 32);
  CHECK(c.tc == 2);
  CHECK(c.sc == 5);
  CHECK(costs("i->z", {{4}}, "0", {{'z', 8}}).flops == 32);
}

TEST_CASE("extents of 0 and products beyond doubles do no harm") {
  const Costs none = costs("ij,jk->ik", {{2, 0}, {0, 3}}, "(0,1)");
  CHECK(none.flops == 0);
  CHECK(none.tc == 0);
  CHECK(none.sc == doctest::Approx(std::log2(6)));
  Network huge;
  huge.tensors.resize(2);
  for (LabelId l = 0; l < 100; ++l) {
    huge.tensors[static_cast<std::size_t>(l % 2)].push_back(l);
    huge.output.push_back(l);
    huge.log2_extents.push_back(60);
  }
  const Costs c = cost_of(huge, {2, {{0, 1}}});
  CHECK(std::isinf(c.flops));
  CHECK(c.tc == 6000);
  CHECK(c.sc == 6000);
  huge.log2_extents[0] = -std::numeric_limits<double>::infinity();
  CHECK(cost_of(huge, {2, {{0, 1}}}).flops == 0);
}

TEST_CASE("a chain of 20,000 operands") {
  constexpr std::int32_t kOperands = 20000;
  Network n;
  ContractionTree tree{kOperands, {{0, 1}}};
  for (std::int32_t i = 0; i <= kOperands; ++i) n.log2_extents.push_back(1);
  for (std::int32_t i = 0; i < kOperands; ++i) n.tensors.push_back({i, i + 1});
  n.output = {0, kOperands};
  for (std::int32_t i = 2; i < kOperands; ++i) tree.joins.push_back({kOperands + i - 2, i});
  CHECK(cost_of(n, tree).flops == 8.0 * (kOperands - 1));
}

TEST_CASE("a malformed tree is our own fault") {
  const Network n = network_of(bound("i,i,i->", {{2}, {2}, {2}}));
  CHECK_THROWS_AS(cost_of(n, {2, {{0, 1}}}), std::logic_error);
  CHECK_THROWS_AS(cost_of(n, {3, {{0, 1}, {0, 2}}}), std::logic_error);
  CHECK_THROWS_AS(cost_of(n, {3, {{0, 4}, {3, 2}}}), std::logic_error);
}
