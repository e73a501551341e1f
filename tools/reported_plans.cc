// Modes plan and perf of reported cases: bounds on costs are checked, times are figures.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>

#include "tools/generated_networks.h"
#include "tools/own_process.h"
#include "tools/reported_call.h"
#include "tools/reported_replay.h"
#include "tools/reported_value.h"

namespace einjit {
namespace {

using nlohmann::json;

constexpr double kExact = 1 + 1e-9;         // room for log2 and back
constexpr double kReferenceFlops = 3e8;     // plain loops take a few seconds
constexpr double kDefaultFinderFactor = 3;  // "default finder: at most 3x"

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

GeneratedNetwork network_of_case(const json& reported) {
  if (reported.contains("gen")) return generated_network(reported.at("gen"));
  GeneratedNetwork network;
  network.expression = parse(reported.at("expr").get<std::string>());
  const DType type = *dtype_named(reported.value("dtype", std::string("f64")));
  for (const json& shape : reported.at("shapes"))
    network.operands.push_back(dense_layout(type, Dims(shape.get<std::vector<std::int64_t>>())));
  return network;
}

struct Search {
  Costs costs;
  ContractionTree tree;
  double seconds = 0;
};

Search search(const Contraction& contraction, std::string_view finder) {
  Search found;
  const auto start = std::chrono::steady_clock::now();
  found.tree = find_tree(contraction, finder, {});
  found.seconds = since(start);
  found.costs = cost_of(network_of(contraction), found.tree);
  return found;
}

std::string above(const char* what, double found, double bound) {
  if (found <= bound * kExact) return {};
  char text[120];
  std::snprintf(text, sizeof text, "%s: expected at most %.10g, found %.10g", what, bound, found);
  return text;
}

std::string first_wrong(std::initializer_list<std::string> wrongs) {
  for (const std::string& wrong : wrongs)
    if (!wrong.empty()) return wrong;
  return {};
}

/// optimal_mults counts pairwise trees; what sums a label early may be cheaper.
std::string check_optimum(const json& reported, const Contraction& contraction,
                          const Search& found) {
  if (!reported.contains("optimal_mults")) return {};
  const auto best = reported.at("optimal_mults").get<double>();
  return first_wrong({above("multiplications of the exact finder",
                            std::exp2(search(contraction, "optimal").costs.tc), best),
                      above("multiplications of the default finder", std::exp2(found.costs.tc),
                            best * kDefaultFinderFactor)});
}

std::string check_scaling(const ExecContext& context, const json& reported,
                          const GeneratedNetwork& network) {
  if (!reported.contains("max_scaling")) return {};
  const Plan made = plan(context, network.expression, network.operands);
  double most = 0;
  for (const Step& step : made.steps) most = std::max(most, step.flops);
  return above("multiplications of the largest step", most,
               std::pow(reported.at("gen").at("dim").get<double>(),
                        reported.at("max_scaling").get<double>()));
}

/// Two searches of this process and one of another give one tree.
std::string check_repeats(const json& reported, const GeneratedNetwork& network,
                          const Search& found) {
  if (reported.value("kind", std::string()) != "path-determinism") return {};
  if (search(network.contraction(), "auto").tree != found.tree)
    return "a second search found another tree";
  const json& gen = reported.at("gen");
  const ProcessResult other =
      run_own_program({"--print-grid-tree", std::to_string(gen.at("rows").get<int>())}, 60);
  if (other.output != to_text(found.tree) + "\n")
    return "another process found the tree " + other.output + ", this one " + to_text(found.tree);
  return {};
}

std::string check_memory(const ExecContext& context, const json& reported,
                         const GeneratedNetwork& network) {
  if (reported.at("id") != "C258") return {};
  const double limit = 8e7;  // "with a memory limit of 1e7 elements a plan must be found"
  const Plan made = plan(context.with_memory_limit(limit), network.expression, network.operands);
  return above("bytes of the limited plan", static_cast<double>(made.peak_bytes(1)), limit);
}

std::string check_plan(const ExecContext& context, const json& reported, std::string& figure) {
  const GeneratedNetwork network = network_of_case(reported);
  const Contraction contraction = network.contraction();
  const Search found = search(contraction, "auto");
  const double peak = std::exp2(found.costs.sc);
  if (reported.contains("budget"))
    figure = "searched in " + seconds_text(found.seconds) +
             "; budget: " + reported.at("budget").get<std::string>();
  if (reported.contains("least_peak_elements"))
    figure = "2^tc " + std::to_string(std::llround(std::exp2(found.costs.tc))) + " (least " +
             reported.at("optimal_mults").dump() + "), largest tensor written " +
             std::to_string(std::llround(peak)) + " (least " +
             reported.at("least_peak_elements").dump() + ")";
  const double no_bound = INFINITY;
  return first_wrong(
      {above("elements of the largest tensor written", peak,
             reported.value("limit_elements", no_bound)),
       above("multiply-adds of all steps", found.costs.flops,
             reported.value("max_total_ops", no_bound)),
       check_optimum(reported, contraction, found), check_scaling(context, reported, network),
       check_repeats(reported, network, found), check_memory(context, reported, network)});
}

std::string check_perf(const ExecContext& context, const json& reported,
                       const EinsumOptions& options, std::string& figure) {
  const ReportedCall call = read_call(reported, reported);
  const auto start = std::chrono::steady_clock::now();
  std::optional<Tensor> result = einsum(context, call.expression(), call.operands, options);
  const double first = since(start);
  double warm = INFINITY;
  for (int i = 0; i < 3 && first < 5; ++i) {
    const auto again = std::chrono::steady_clock::now();
    result = einsum(context, call.expression(), call.operands, options);
    warm = std::min(warm, since(again));
  }
  figure = "first call " + seconds_text(first) + ", warm " + seconds_text(warm) +
           "; budget: " + reported.at("budget").get<std::string>();
  std::vector<Layout> layouts;
  for (const Operand& operand : call.operands) layouts.push_back(layout_of(operand));
  if (plan(context, call.expression(), layouts).costs.flops > kReferenceFlops) return {};
  EinsumOptions plain = options;
  plain.backend = "reference";
  plain.lowering.clear();
  return value_difference(value_of(einsum(context, call.expression(), call.operands, plain)),
                          value_of(*result));
}

}  // namespace

CaseVerdict replay_plan(const ExecContext& context, const json& reported, const EinsumOptions&) {
  CaseVerdict result;
  result.verdict =
      verdict_of(reported, [&] { return check_plan(context, reported, result.figure); });
  return result;
}

CaseVerdict replay_perf(const ExecContext& context, const json& reported,
                        const EinsumOptions& options) {
  CaseVerdict result;
  result.verdict =
      verdict_of(reported, [&] { return check_perf(context, reported, options, result.figure); });
  return result;
}

}  // namespace einjit
