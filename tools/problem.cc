// Words of the command line → Problem.
#include "tools/problem.h"

#include <CLI/CLI.hpp>
#include <charconv>

#include "tools/case_json.h"

namespace einjit {
namespace {

std::vector<std::int64_t> parse_shape(const std::string& text) {
  std::vector<std::int64_t> shape;
  if (text.empty() || text == "-") return shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    std::int64_t extent = 0;
    const auto [rest, failure] = std::from_chars(at, end, extent);
    if (failure != std::errc() || (rest != end && *rest != ','))
      throw CLI::ValidationError("--shapes", "\"" + text +
                                                 "\" is no shape; expected extents such as 8,9, or "
                                                 "- for a scalar");
    shape.push_back(extent);
    if (rest == end) return shape;
    at = rest + 1;
  }
}

}  // namespace

EinsumOptions Problem::options(const CallOptions& call) const {
  EinsumOptions options = call.einsum_options(network ? &*network : nullptr);
  if (network)
    options.sizes.insert(options.sizes.end(), network->sizes.begin(), network->sizes.end());
  return options;
}

Contraction Problem::contraction(const std::vector<LabelExtent>& sizes) const {
  std::vector<std::span<const std::int64_t>> shapes;
  for (const Layout& operand : operands) shapes.push_back(operand.extents);
  return resolve(expression, shapes, sizes);
}

Problem read_problem(const std::string& what, const std::vector<std::string>& shapes,
                     const std::string& dtype) {
  Problem problem;
  DType type = dtype.empty() ? DType::f64 : read_dtype(dtype);
  if (what.ends_with(".json")) {
    if (!shapes.empty())
      throw CLI::ValidationError("--shapes", "a network file has its own shapes");
    problem.network = read_network(what);
    problem.name = problem.network->name;
    problem.expression = problem.network->expression;
    if (dtype.empty()) type = problem.network->type;
    for (const auto& shape : problem.network->shapes)
      problem.operands.push_back(dense_layout(type, Dims(shape)));
    return problem;
  }
  problem.name = what;
  problem.expression = parse(what);
  for (const std::string& shape : shapes)
    problem.operands.push_back(dense_layout(type, Dims(parse_shape(shape))));
  return problem;
}

}  // namespace einjit
