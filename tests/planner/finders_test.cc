// Tests of all path finders, by their table: laws that each keeps, then what each promises.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>

#include "einjit/error.h"
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

const PathFinder& finder(std::string_view name) {
  for (const PathFinder* f : path_finders())
    if (f->name == name) return *f;
  throw std::logic_error("no finder " + std::string(name));
}

Costs found(const Network& n, std::string_view name) {
  return cost_of(n, finder(name).find(n, {}));
}

double seconds_for(const Network& n, std::string_view name) {
  const auto start = std::chrono::steady_clock::now();
  const ContractionTree tree = finder(name).find(n, {});
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(tree_from_ssa(ssa_path(tree), tree.leaves) == tree);  // a whole tree
  return seconds;
}

/// Random hypergraph: labels in 1 to 4 tensors, some in the output, some only there.
Network random_network(std::size_t tensors, std::size_t labels, std::mt19937& random) {
  Network n;
  n.tensors.resize(tensors);
  for (std::size_t l = 0; l < labels; ++l) {
    const auto label = static_cast<LabelId>(l);
    n.log2_extents.push_back(std::log2(2.0 + random() % 5));
    for (std::size_t i = 0, holders = random() % 4; i < holders; ++i) {
      auto& t = n.tensors[random() % tensors];
      if (t.empty() || t.back() != label) t.push_back(label);
    }
    if (random() % 5 == 0) n.output.push_back(label);
  }
  for (auto& t : n.tensors) t.erase(std::unique(t.begin(), t.end()), t.end());
  return n;
}

/// Fewest flops of any tree: all joins of all pairs, tried one after the other.
double fewest_flops(const Network& n, ContractionTree tree, const std::vector<std::int32_t>& live) {
  if (live.size() == 1) return cost_of(n, tree).flops;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < live.size(); ++i)
    for (std::size_t j = i + 1; j < live.size(); ++j) {
      ContractionTree next = tree;
      next.joins.push_back({live[i], live[j]});
      std::vector<std::int32_t> rest;
      for (std::size_t k = 0; k < live.size(); ++k)
        if (k != i && k != j) rest.push_back(live[k]);
      rest.push_back(tree.leaves + static_cast<std::int32_t>(tree.joins.size()));
      least = std::min(least, fewest_flops(n, next, rest));
    }
  return least;
}

Network chain(std::int32_t operands) {
  Network n;
  n.log2_extents.assign(static_cast<std::size_t>(operands) + 1, 1);
  for (std::int32_t i = 0; i < operands; ++i) n.tensors.push_back({i, i + 1});
  n.output = {0, operands};
  return n;
}

Network network_of_edges(std::size_t tensors, const std::vector<std::pair<int, int>>& edges) {
  Network n;
  n.tensors.resize(tensors);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    n.tensors[static_cast<std::size_t>(edges[e].first)].push_back(static_cast<LabelId>(e));
    n.tensors[static_cast<std::size_t>(edges[e].second)].push_back(static_cast<LabelId>(e));
    n.log2_extents.push_back(1);
  }
  return n;
}

Network grid(int side) {
  std::vector<std::pair<int, int>> edges;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      if (x + 1 < side) edges.emplace_back(y * side + x, y * side + x + 1);
      if (y + 1 < side) edges.emplace_back(y * side + x, (y + 1) * side + x);
    }
  return network_of_edges(static_cast<std::size_t>(side * side), edges);
}

Network binary_tree(int tensors) {
  std::vector<std::pair<int, int>> edges;
  for (int i = 1; i < tensors; ++i) edges.emplace_back((i - 1) / 2, i);
  return network_of_edges(static_cast<std::size_t>(tensors), edges);
}

/// A chain in which every tensor also holds label 0.
Network chain_with_common_label(std::int32_t operands) {
  Network n;
  n.log2_extents.assign(static_cast<std::size_t>(operands) + 2, 1);
  for (std::int32_t i = 0; i < operands; ++i)
    n.tensors.push_back(i == 7 ? std::vector<LabelId>{i + 1, i + 2}
                               : std::vector<LabelId>{0, i + 1, i + 2});
  return n;
}

}  // namespace

TEST_CASE("every finder returns whole trees, the same ones again") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const std::size_t tensors = 1 + random() % 12;
    const Network n = random_network(tensors, random() % 20, random);
    for (const PathFinder* f : path_finders()) {
      CAPTURE(f->name);
      if (!f->accepts(n)) continue;
      const ContractionTree tree = f->find(n, {});
      CHECK_NOTHROW(cost_of(n, tree));
      CHECK(f->find(n, {}) == tree);
    }
  }
}

TEST_CASE("every finder takes scalars, single operands, zero and huge extents") {
  for (const PathFinder* f : path_finders()) {
    CAPTURE(f->name);
    const auto tries = [&](std::string_view text, const Shapes& shapes) {
      const Network n = network_of(bound(text, shapes));
      CHECK_NOTHROW(cost_of(n, f->find(n, {})));
    };
    tries("->", {{}});
    tries("ij->", {{2, 3}});
    tries(",,,->", {{}, {}, {}, {}});
    tries("ij,jk,kl->il", {{0, 2}, {2, 0}, {0, 3}});
    tries("a,b,c,d->", {{2}, {3}, {4}, {5}});
    Network huge = chain(12);
    huge.log2_extents.assign(13, 400);
    CHECK(cost_of(huge, f->find(huge, {})).tc == doctest::Approx(1200 + std::log2(11)));
  }
}

TEST_CASE("every finder can be stopped") {
  for (const PathFinder* f : path_finders()) {
    CAPTURE(f->name);
    for (const Network& n : {chain(14), chain(1000)}) {
      if (!f->accepts(n)) continue;
      int asked = 0;
      const SearchBudget budget{0, [&] { return ++asked > 0; }};
      if (n.tensors.size() < 100 && f->name != "optimal") continue;
      try {
        f->find(n, budget);
        CHECK(false);
      } catch (const Error& e) {
        CHECK(e.code() == ErrorCode::cancelled);
      }
      CHECK(asked == 1);
    }
  }
}

TEST_CASE("names of labels decide nothing") {
  const Shapes shapes{{2, 3, 5}, {3, 4}, {4, 5, 2}, {2, 4}, {5, 3}};
  for (const PathFinder* f : path_finders()) {
    const auto tree = find_tree(bound("abc,bd,dce,ed,cb->a", shapes), f->name, {});
    CHECK(find_tree(bound("zyx,yw,wxv,vw,xy->z", shapes), f->name, {}) == tree);
  }
}

TEST_CASE("optimal is optimal: against every tree of up to 6 operands") {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    const std::size_t tensors = 2 + random() % (round % 10 == 0 ? 5 : 4);
    const Network n = random_network(tensors, 2 + random() % 8, random);
    std::vector<std::int32_t> live(tensors);
    for (std::size_t i = 0; i < tensors; ++i) live[i] = static_cast<std::int32_t>(i);
    const double least = fewest_flops(n, {static_cast<std::int32_t>(tensors), {}}, live);
    CHECK(found(n, "optimal").flops == doctest::Approx(least).epsilon(1e-12));
    CHECK(found(n, "auto").flops == doctest::Approx(least).epsilon(1e-12));
  }
}

TEST_CASE("optimal: known figures") {
  const auto optimum = [](std::string_view text, const Shapes& shapes) {
    const Network n = network_of(bound(text, shapes));
    CHECK(found(n, "auto").flops <= 3 * found(n, "optimal").flops);
    return std::exp2(found(n, "optimal").tc);
  };
  CHECK(optimum("gfl,egh,efj,mjk,cdn,bck,bdi,oih->lmno", {{6, 6, 4},
                                                          {6, 6, 4},
                                                          {6, 6, 4},
                                                          {4, 4, 4},
                                                          {6, 6, 4},
                                                          {6, 6, 4},
                                                          {6, 6, 4},
                                                          {4, 4, 4}}) == doctest::Approx(17664));
  CHECK(
      optimum(
          "iP,sP,PQ,jQ,tQ,ti,sj->",
          {{300, 2000}, {50, 2000}, {2000, 2000}, {300, 2000}, {50, 2000}, {50, 300}, {50, 300}}) ==
      doctest::Approx(464015000));
  CHECK(optimum("ij,jk,kl,lm->im", {{10, 1000}, {1000, 10}, {10, 1000}, {1000, 10}}) ==
        doctest::Approx(201000));
  CHECK(optimum("nlp,nlq->l", {{30, 30, 30}, {30, 30, 30}}) == doctest::Approx(900));
}

TEST_CASE("optimal: more than 64 kinds of labels, and 16 operands in time") {
  Network n;
  n.tensors.resize(13);
  for (std::size_t a = 0; a < 13; ++a)
    for (std::size_t b = a + 1; b < 13; ++b) {
      n.tensors[a].push_back(static_cast<LabelId>(n.log2_extents.size()));
      n.tensors[b].push_back(static_cast<LabelId>(n.log2_extents.size()));
      n.log2_extents.push_back(1);
    }
  CHECK(found(n, "optimal").flops <= found(n, "greedy").flops);
  CHECK(seconds_for(grid(4), "optimal") < 10);
  CHECK_FALSE(finder("optimal").accepts(chain(30)));
}

TEST_CASE("auto keeps intermediates small where it must") {
  const auto largest = [](std::string_view text, const Shapes& shapes) {
    return std::exp2(found(network_of(bound(text, shapes)), "auto").sc);
  };
  CHECK(largest("ij,jk,kl,jk->il", Shapes(4, {500, 500})) <= 1e6);
  CHECK(largest("bgk,bkd,bk->bgd", {{64, 8, 4096}, {64, 4096, 128}, {64, 4096}}) <= 2200000);
  Shapes many(17, Shape{8, 25, 25, 2});
  many[0] = Shape(17, 2);
  CHECK(
      largest("abcdefghijklmnopt,qrsp,qrso,qrsn,qrsm,qrsl,qrsk,qrsj,qrsi,qrsh,qrsg,qrsf,qrse,qrsd,"
              "qrsc,qrsb,qrsa->qrst",
              many) <= 5000 * 65536.0 * 2);
}

TEST_CASE("doubled edges of a binary tree: no step of more than two labels") {
  Network n;
  n.log2_extents.assign(15, 1);
  for (LabelId child = 1; child < 15; ++child)
    for (int twice = 0; twice < 2; ++twice) n.tensors.push_back({(child - 1) / 2, child});
  const ContractionTree tree = finder("auto").find(n, {});
  CHECK(cost_of(n, tree).flops <= 4.0 * 27);  // 27 joins of at most 2 · 2
  CHECK(cost_of(n, tree).sc <= 2);
}

TEST_CASE("greedy is near-linear") {
  CHECK(seconds_for(chain(10000), "greedy") < 2);
  CHECK(seconds_for(binary_tree(10000), "greedy") < 2);
  CHECK(seconds_for(chain_with_common_label(10000), "greedy") < 2);
  CHECK(seconds_for(grid(100), "greedy") < 10);
  CHECK(seconds_for(chain(100000), "greedy") < 10);
  CHECK(found(chain(1000), "greedy").tc == doctest::Approx(std::log2(999 * 8)));
  CHECK(found(binary_tree(1023), "greedy").sc <= 3);
}

TEST_CASE("nesting is obeyed") {
  const Shapes shapes{{2, 3}, {3, 4}, {4, 5}, {5, 6}};
  CHECK(to_text(find_tree(bound("ij,(jk,kl),lm->im", shapes), "auto", {})).find("(1,2)") !=
        std::string::npos);
  CHECK(to_text(find_tree(bound("(ij,(jk,kl)),lm->im", shapes), "greedy", {})) == "((0,(1,2)),3)");
  CHECK(to_text(find_tree(bound("(ij,kl),(jk,lm)->im", Shapes{{2, 3}, {4, 5}, {3, 4}, {5, 6}}),
                          "optimal", {})) == "((0,1),(2,3))");
  CHECK(find_tree(bound("i->", {{2}}), "auto", {}) == ContractionTree{1, {}});
}

TEST_CASE("a group's output is what is needed outside it") {
  // Inside (ij,jk,kj) label j is needed by the last term, so no order may sum it.
  const Contraction c = bound("(ij,jk,kj),jl->il", {{9, 2}, {2, 9}, {9, 2}, {2, 2}});
  const ContractionTree tree = find_tree(c, "optimal", {});
  CHECK(tree.joins.back().right == 3);
  CHECK(cost_of(network_of(c), tree).flops == 2 * 9 + 9 * 2 + 9 * 2 * 2);
}

TEST_CASE("20,000 nested groups") {
  constexpr std::int32_t kDepth = 20000;
  std::vector<std::vector<Label>> terms;
  Nesting nesting;
  for (std::int32_t i = 0; i <= kDepth; ++i) terms.push_back({i, i + 1});
  nesting.groups.push_back({0, 1});
  for (std::int32_t i = 2; i <= kDepth; ++i) nesting.groups.push_back({~(i - 2), i});
  const Expression e = make_expression(terms, {}, nesting);
  const Shape matrix{2, 2};
  const std::vector<std::span<const std::int64_t>> shapes(terms.size(), matrix);
  const Contraction c = resolve(e, shapes);
  const ContractionTree tree = find_tree(c, "auto", {});
  CHECK(cost_of(network_of(c), tree).flops == 8.0 * kDepth);
  CHECK(parse_tree(to_text(tree)) == tree);
}

TEST_CASE("a finder by a wrong name, or forced on a network it does not take") {
  const auto code_of = [](const Contraction& c, std::string_view name) {
    try {
      find_tree(c, name, {});
    } catch (const Error& e) {
      return std::string(einjit::name(e.code())) + ": " + e.what();
    }
    return std::string("accepted");
  };
  const std::string unknown = code_of(bound("i->i", {{2}}), "best");
  CHECK(unknown.starts_with("invalid_argument"));
  CHECK(unknown.find("auto, greedy, optimal") != std::string::npos);
  const std::string many(24, ',');
  CHECK(code_of(bound(many + "->", Shapes(25)), "optimal").starts_with("invalid_argument"));
  CHECK(code_of(bound(many + "->", Shapes(25)), "auto") == "accepted");
}
