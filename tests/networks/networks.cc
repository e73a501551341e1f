// Whole networks: every one is planned; those with stored paths are contracted along them and along
// our own, on reduced extents against `reference`, on full extents against each other.
//
// Usage: networks_check DIRECTORY [--all]. Without --all, full extents are left out where the plan
// predicts more than kShortSeconds; what was left out is printed. Last line: "passed P, … failed
// F".
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "einjit/einjit.h"
#include "runtime/network_file.h"
#include "tools/blas_core.h"

using namespace einjit;

namespace {

constexpr double kShortSeconds = 4;
constexpr double kReducedFlops = 3e6;  // the reference's plain loops take well under a second
constexpr double kLargestBytes =
    12e9;  // of operands, destination and arena on the 24 GiB test machine

int passed = 0, failed = 0;

void report(bool right, const std::string& what) {
  ++(right ? passed : failed);
  if (!right) std::printf("FAILED %s\n", what.c_str());
}

struct Inputs {
  std::vector<std::vector<double>> data;
  std::vector<Operand> operands;
  std::vector<Layout> layouts;
};

double product(const std::vector<std::int64_t>& extents) {
  double p = 1;
  for (std::int64_t e : extents) p *= static_cast<double>(e);
  return p;
}

Inputs random_inputs(const std::vector<std::vector<std::int64_t>>& shapes) {
  Inputs in;
  std::uint64_t state = 7;
  for (const auto& shape : shapes) {
    double longest = 1;
    for (std::int64_t e : shape) longest = std::max(longest, static_cast<double>(e));
    std::vector<double> values(static_cast<std::size_t>(product(shape)));
    for (double& x : values) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x = (static_cast<double>(state >> 11) / 9007199254740992.0 + 0.5) / std::sqrt(longest);
    }
    in.data.push_back(std::move(values));
    in.operands.emplace_back(View<double>(in.data.back().data(), Dims(shape)));
    in.layouts.push_back(layout_of(in.operands.back()));
  }
  return in;
}

/// Extents at most 2, then 1 for one label after another until the plan is small.
std::vector<std::vector<std::int64_t>> reduced(const ExecContext& context,
                                               const NetworkFile& network,
                                               const EinsumOptions& options) {
  std::vector<std::vector<std::int64_t>> shapes = network.shapes;
  for (auto& shape : shapes)
    for (std::int64_t& e : shape) e = std::min<std::int64_t>(e, 2);
  for (std::uint32_t modulus = 64;; modulus = std::max(1u, modulus / 2)) {
    std::vector<Layout> layouts;
    for (const auto& shape : shapes) layouts.push_back(dense_layout(DType::f64, Dims(shape)));
    if (plan(context, network.expression, layouts, {}, {}, options).costs.flops <= kReducedFlops)
      return shapes;
    for (std::size_t i = 0; i < shapes.size(); ++i)
      for (std::size_t axis = 0; axis < shapes[i].size(); ++axis)
        if (static_cast<std::uint32_t>(network.expression.inputs[i][axis]) * 2654435761u %
                modulus ==
            0)
          shapes[i][axis] = 1;
  }
}

std::vector<double> contract(const ExecContext& context, const NetworkFile& network,
                             const Inputs& in, const EinsumOptions& options) {
  const Tensor t = einsum(context, network.expression, in.operands, options);
  const auto values = t.values<double>();
  return {values.begin(), values.end()};
}

bool close(const std::vector<double>& x, const std::vector<double>& y) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference += (x[i] - y[i]) * (x[i] - y[i]);
    size += x[i] * x[i];
  }
  return x.size() == y.size() && size > 0 && std::sqrt(difference) <= 1e-11 * std::sqrt(size);
}

void check_network(const std::filesystem::path& file, bool all) {
  const NetworkFile network = read_network(file.string());
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::max_threads(engine, 2);
  std::vector<Layout> layouts;
  double operand_bytes = 0;
  for (const auto& shape : network.shapes) {
    layouts.push_back(dense_layout(DType::f64, Dims(shape)));
    operand_bytes += 8 * product(shape);
  }
  std::vector<std::pair<std::string, EinsumOptions>> ways{{"own", {}}};
  for (const auto& [name, path] : network.paths) {
    ways.emplace_back(name, EinsumOptions{});
    ways.back().second.path = path;
  }
  std::vector<double> first;
  for (const auto& [name, options] : ways) {
    const std::string what = network.name + " " + name;
    const auto start = std::chrono::steady_clock::now();
    const Plan p = plan(context, network.expression, layouts, {}, {}, options);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    verify(p);
    report(parse_plan(to_text(p)) == p, what + ": the plan's text reads back");
    std::printf("%-58s tc %6.2f sc %5.1f planned in %.3f s", what.c_str(), p.costs.tc, p.costs.sc,
                seconds);
    if (network.paths.empty()) {
      std::printf("\n");
      continue;
    }
    const auto small = random_inputs(reduced(context, network, options));
    EinsumOptions plain = options;
    plain.backend = "reference";
    const auto right = contract(context, network, small, plain);
    for (const char* backend : {"jit", "auto"}) {
      EinsumOptions with = options;
      with.backend = backend;
      report(close(right, contract(context, network, small, with)),
             what + ": reduced extents, " + backend);
    }
    const double bytes =
        operand_bytes + static_cast<double>(p.peak_bytes(2)) + 8 * product(p.destination.extents);
    if (bytes > kLargestBytes || (!all && p.predicted_seconds() > kShortSeconds)) {
      std::printf("  full extents left out (%.1f GB, %.0f s predicted)\n", bytes / 1e9,
                  p.predicted_seconds());
      continue;
    }
    const auto in = random_inputs(network.shapes);
    const auto run_start = std::chrono::steady_clock::now();
    const auto result = contract(context, network, in, options);
    std::printf("  %.3f s (%.3f predicted)\n",
                std::chrono::duration<double>(std::chrono::steady_clock::now() - run_start).count(),
                p.predicted_seconds());
    if (first.empty()) first = result;
    report(close(first, result), what + ": full extents, equal to the other paths");
  }
}

}  // namespace

int main(int argc, char** argv) {
  choose_blas_core();
  const bool all = argc > 2 && std::string(argv[2]) == "--all";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) try {
      check_network(file, all);
    } catch (const Error& e) {
      // A tree whose tensors no address space holds is found and costed, but has no plan.
      const bool beyond = e.code() == ErrorCode::size_overflow;
      report(beyond, file.filename().string() + ": " + e.what());
      if (beyond) std::printf("%s: no plan: %s\n", file.stem().c_str(), e.what());
    } catch (const std::exception& e) {
      report(false, file.filename().string() + ": " + e.what());
    }
  std::printf("passed %d, expected errors 0, unsupported 0, failed %d\n", passed, failed);
  return failed != 0;
}
