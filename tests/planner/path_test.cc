// Tests of paths: both forms against hand-made trees and a slow model, refusals, 100,000 operands.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "einjit/error.h"
#include "einjit/tree.h"

using namespace einjit;

namespace {

ContractionTree random_tree(std::int32_t leaves, std::mt19937& random) {
  ContractionTree tree{leaves, {}};
  std::vector<std::int32_t> live(static_cast<std::size_t>(leaves));
  for (std::int32_t i = 0; i < leaves; ++i) live[static_cast<std::size_t>(i)] = i;
  while (live.size() > 1) {
    const auto take = [&] {
      const std::size_t i = random() % live.size();
      const std::int32_t taken = live[i];
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
      return taken;
    };
    const std::int32_t left = take();
    tree.joins.push_back({left, take()});
    live.push_back(leaves + static_cast<std::int32_t>(tree.joins.size()) - 1);
  }
  return tree;
}

std::string refusal(const LinearPath& path, std::int32_t operands) {
  try {
    tree_from_linear(path, operands);
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::invalid_path);
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("linear form: positions leave the list, the result goes to its end") {
  const ContractionTree tree = tree_from_linear({{0, 1}, {0, 1}}, 3);
  CHECK(tree.joins == std::vector<ContractionTree::Join>{{0, 1}, {2, 3}});
  CHECK(tree_from_linear({{3, 0}, {2, 1}, {1, 0}}, 4).joins ==
        std::vector<ContractionTree::Join>{{3, 0}, {4, 2}, {5, 1}});
  CHECK(tree_from_linear({{0, 1, 2}}, 3).joins ==
        std::vector<ContractionTree::Join>{{0, 1}, {3, 2}});
  CHECK(tree_from_linear({{0}, {0, 1}}, 2).joins == std::vector<ContractionTree::Join>{{1, 0}});
  CHECK(tree_from_linear({}, 1) == ContractionTree{1, {}});
  CHECK(tree_from_linear({{0}}, 1) == ContractionTree{1, {}});
}

TEST_CASE("SSA form numbers results by step") {
  CHECK(tree_from_ssa({{0, 1}, {3, 2}}, 3).joins ==
        std::vector<ContractionTree::Join>{{0, 1}, {3, 2}});
  CHECK(tree_from_ssa({{0, 1, 2}, {4, 3}}, 4).joins ==
        std::vector<ContractionTree::Join>{{0, 1}, {4, 2}, {5, 3}});
  CHECK(tree_from_ssa({{1}, {2, 0}}, 2).joins == std::vector<ContractionTree::Join>{{1, 0}});
}

TEST_CASE("both forms read back") {
  std::mt19937 random(1);
  for (std::int32_t leaves = 1; leaves <= 40; ++leaves) {
    const ContractionTree tree = random_tree(leaves, random);
    CHECK(tree_from_linear(linear_path(tree), leaves) == tree);
    CHECK(tree_from_ssa(ssa_path(tree), leaves) == tree);
  }
}

TEST_CASE("refusals name the step") {
  CHECK(refusal({{0, 5}, {0, 1}}, 3).find("step 0 of the path, (0, 5)") != std::string::npos);
  CHECK(refusal({{0, 1}}, 3).find("2 operands left over") != std::string::npos);
  CHECK(refusal({{0, 1}, {0, 0}}, 3).find("step 1") != std::string::npos);
  CHECK(refusal({{0, -1}}, 2).find("-1") != std::string::npos);
  CHECK(refusal({{}}, 2).find("takes nothing") != std::string::npos);
  CHECK(refusal({{0, 1}, {0, 1}}, 2).find("step 1") != std::string::npos);
  CHECK_THROWS_AS(tree_from_linear({}, 0), Error);
  CHECK_THROWS_AS(tree_from_ssa({{0, 1}, {0, 2}}, 3), Error);
  CHECK_THROWS_AS(tree_from_ssa({{0, 3}, {1, 2}}, 3), Error);
  CHECK_THROWS_AS(tree_from_ssa({{0, 1}}, 3), Error);
}

TEST_CASE("100,000 operands, in order and at random") {
  constexpr std::int32_t kOperands = 100000;
  LinearPath path;
  for (std::int32_t i = 1; i < kOperands; ++i) path.push_back({0, kOperands - i});
  const ContractionTree chain = tree_from_linear(path, kOperands);
  CHECK(linear_path(chain) == path);
  std::mt19937 random(2);
  LinearPath wild;
  for (std::int64_t left = kOperands; left > 1; --left) {
    const std::int64_t a = static_cast<std::int64_t>(random()) % left;
    const std::int64_t b = (a + 1 + static_cast<std::int64_t>(random()) % (left - 1)) % left;
    wild.push_back({a, b});
  }
  CHECK(linear_path(tree_from_linear(wild, kOperands)) == wild);
}
