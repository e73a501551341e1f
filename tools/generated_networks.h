// Networks that cases describe in words: as integer-label expressions with dense shapes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "einjit/einsum.h"

namespace einjit {

struct GeneratedNetwork {
  Expression expression;
  std::vector<Layout> operands;  // f64, dense

  Contraction contraction() const;
};

/// Every edge of a complete binary tree of this depth twice, as a matrix over its two vertices;
/// scalar.
GeneratedNetwork doubled_tree(std::int32_t depth, std::int64_t dim);
/// A rows × cols grid of tensors, one label an edge; scalar.
GeneratedNetwork grid(std::int32_t rows, std::int32_t cols, std::int64_t dim);
/// A random 3-regular graph on n vertices (a seeded pairing without loops or double edges): a
/// tensor a vertex, a label an edge; scalar.
GeneratedNetwork random_regular(std::int32_t n, std::int64_t dim, std::uint64_t seed);

/// By the `gen` field of a case. Throws corrupt_file for a kind that is not known.
GeneratedNetwork generated_network(const nlohmann::json& gen);

}  // namespace einjit
