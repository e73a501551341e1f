// Whole tensor networks in JSON files: an expression over integer labels, shapes, and stored paths.
//
// {"name", "inputs": [[label, …], …], "output": [label, …], "extents": {"label": extent, …},
// "dtype", "paths": {"name": {"path": [[position, position], …], …}, …}} → NetworkFile. Other keys
// are passed over; "paths" may be absent. Everything that is read is checked here but the paths'
// meaning, which is checked where a path meets its expression.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "einjit/expression.h"
#include "einjit/tensor.h"
#include "einjit/tree.h"

namespace einjit {

struct NetworkFile {
  std::string name;
  DType type = DType::f64;
  Expression expression;
  std::vector<std::vector<std::int64_t>> shapes;  // one an input
  std::vector<LabelExtent> sizes;                 // of output labels that no input holds
  std::map<std::string, LinearPath> paths;
};

/// Throws io_error, or corrupt_file naming the key: one that is missing or of a wrong kind, a label
/// that is no 32-bit integer or has no extent, an extent that is negative or no 64-bit integer.
NetworkFile read_network(const std::string& path);

/// The same from memory; `file` is what sentences call it.
NetworkFile parse_network(std::string_view text, const std::string& file = "network");

/// Row-major, uniform in [−1, 1], never 0, a function of the seed, of each element's position and
/// of nothing else. Equal seeds give every type the same numbers, rounded. Throws size_overflow,
/// out_of_memory.
Tensor random_operand(DType type, const std::vector<std::int64_t>& extents, std::uint64_t seed);

}  // namespace einjit
