// What a command is asked to contract: an expression with shapes, or a network file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "einjit/einsum.h"
#include "runtime/network_file.h"
#include "tools/call_options.h"

namespace einjit {

struct Problem {
  std::string name;  // the expression as written, or the network's name
  Expression expression;
  std::vector<Layout> operands;  // dense
  std::optional<NetworkFile> network;

  /// The options of the command line, with the network's stored path and sizes where there is one.
  EinsumOptions options(const CallOptions& call) const;
  Contraction contraction(const std::vector<LabelExtent>& sizes) const;
};

/// `what` ends in .json: a network file, and `shapes` must be empty. Otherwise an expression; each
/// of `shapes` is "8,9" ("" or "-": a scalar). Without `dtype`: the file's element type, or f64.
/// Throws Error, and CLI::ValidationError for bad shapes.
Problem read_problem(const std::string& what, const std::vector<std::string>& shapes,
                     const std::string& dtype);

}  // namespace einjit
