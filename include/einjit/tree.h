// A contraction tree: which two tensors each step joins, and what that costs.
//
// Contraction ─network_of→ Network ─path finder→ ContractionTree ─cost_of→ Costs.
// SSA numbering: leaves are 0 … leaves−1, join i makes tensor leaves + i, the last is the root.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "einjit/expression.h"

namespace einjit {

/// The label hypergraph that path finders see: axes of extent 1 are gone, repeats are merged.
struct Network {
  std::vector<std::vector<LabelId>> tensors;  // sorted, unique labels a tensor
  std::vector<LabelId> output;                // sorted, unique
  std::vector<double> log2_extents;           // per label
  bool operator==(const Network&) const = default;
};

struct ContractionTree {
  struct Join {
    std::int32_t left = 0;
    std::int32_t right = 0;
    bool operator==(const Join&) const = default;
  };
  std::int32_t leaves = 0;
  std::vector<Join> joins;  // leaves − 1 of them (none for a single operand)
  bool operator==(const ContractionTree&) const = default;
};

/// opt_einsum's form: positions in the shrinking list, the result appended.
using LinearPath = std::vector<std::vector<std::int64_t>>;
/// The same in SSA numbers.
using SsaPath = std::vector<std::vector<std::int64_t>>;

/// A step of three or more positions is joined left to right; a step of one moves it to the end.
/// Throws invalid_path naming the offending step (out of range, repeated, operands left over).
ContractionTree tree_from_linear(const LinearPath& path, std::int32_t operands);
ContractionTree tree_from_ssa(const SsaPath& path, std::int32_t operands);
LinearPath linear_path(const ContractionTree& tree);
SsaPath ssa_path(const ContractionTree& tree);

/// "((0,1),2)" — nested positions; reads back. Never recursive: a chain of 20,000 operands works.
std::string to_text(const ContractionTree& tree);
ContractionTree parse_tree(std::string_view text);

/// SPEC "Costs". Sums are doubles, logs are base 2; nothing wraps.
struct Costs {
  double flops = 0;  // multiply-adds over all steps, one-operand steps too
  double tc = 0;     // log2 of multiply-adds over steps of two operands; 0 if there are none
  double sc = 0;     // log2 of the elements of the largest tensor written
  double rwc = 0;    // log2 of elements read and written
  bool operator==(const Costs&) const = default;
};

Network network_of(const Contraction& contraction);
Costs cost_of(const Network& network, const ContractionTree& tree);

/// What a search may spend, handed in: the planner owns no clock, thread or file.
struct SearchBudget {
  std::uint64_t seed = 0;
  std::function<bool()> stop;  // true: give up with Error{cancelled}; empty: never
};

/// One row of the table of path finders. `accepts` says for which networks it ends in sensible
/// time.
struct PathFinder {
  std::string_view name;
  std::string_view summary;
  bool (*accepts)(const Network&);
  ContractionTree (*find)(const Network&, const SearchBudget&);
};

/// Every path finder, in the order of their files' names.
std::span<const PathFinder* const> path_finders();

/// Finds a tree that obeys the nesting. `finder` is a name of the table ("auto" is one of them);
/// throws invalid_argument for an unknown one, naming those there are.
ContractionTree find_tree(const Contraction& contraction, std::string_view finder,
                          const SearchBudget& budget);

}  // namespace einjit
