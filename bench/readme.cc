// The README's figures: small products by every entry point, first calls, and whole networks.
//
// Usage: bench_readme [NETWORKS-DIRECTORY]. Prints one JSON object: rows of {name, seconds, note},
// medians over repeated calls, inputs random and non-zero, one thread, every result checked
// (outside the timer) against plain loops or, for networks, against the stored path of the other
// kind.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "einjit/einjit.h"
#include "runtime/network_file.h"
#include "tools/blas_core.h"

using namespace einjit;
using nlohmann::json;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Median seconds of one call; batches of calls so that the clock's own cost vanishes.
double median_seconds(const std::function<void()>& call, double budget_seconds = 0.5) {
  call();
  double start = now();
  call();
  const double once = std::max(now() - start, 1e-9);
  const int batch = static_cast<int>(std::clamp(2e-5 / once, 1.0, 1000.0));
  const int samples = static_cast<int>(std::clamp(budget_seconds / (once * batch), 3.0, 2001.0));
  std::vector<double> seconds;
  for (int s = 0; s < samples; ++s) {
    start = now();
    for (int i = 0; i < batch; ++i) call();
    seconds.push_back((now() - start) / batch);
  }
  std::nth_element(seconds.begin(), seconds.begin() + samples / 2, seconds.end());
  return seconds[samples / 2];
}

std::vector<double> random_values(std::size_t n, std::uint64_t seed) {
  std::vector<double> v(n);
  for (double& x : v) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<double>(seed >> 11) / 9007199254740992.0 + 0.5;
  }
  return v;
}

void check(bool right, const std::string& what) {
  if (right) return;
  std::fprintf(stderr, "wrong result: %s\n", what.c_str());
  std::exit(1);
}

void bench_products(json& rows) {
  for (const std::int64_t n : {2, 64}) {
    const auto un = static_cast<std::size_t>(n);
    const std::vector<double> a = random_values(un * un, 1), b = random_values(un * un, 2);
    std::vector<double> c(un * un), right(un * un, 0.0);
    for (std::size_t i = 0; i < un; ++i)
      for (std::size_t k = 0; k < un; ++k)
        for (std::size_t j = 0; j < un; ++j) right[i * un + j] += a[i * un + k] * b[k * un + j];
    const auto verify = [&](const std::string& what) {
      for (std::size_t i = 0; i < c.size(); ++i)
        check(std::abs(c[i] - right[i]) <= 1e-12 * right[i], what);
    };
    const std::string size = std::to_string(n) + "x" + std::to_string(n);
    const View<double> va(a.data(), {n, n}), vb(b.data(), {n, n});
    const MutableView<double> vc(c.data(), {n, n});

    const double start = now();
    Engine engine = Engine::make();
    const ExecContext context = ExecContext::serial(engine);
    einsum_into(context, "ij,jk->ik", vc, {va, vb});
    rows.push_back({{"name", "first call " + size}, {"seconds", now() - start}});
    verify("first call " + size);

    const std::vector<Operand> operands{va, vb};
    const std::vector<Layout> layouts{layout_of(operands[0]), layout_of(operands[1])};
    const PreparedPlan plan = prepare(context, "ij,jk->ik", layouts);
    const Destination destination(vc);
    rows.push_back({{"name", "prepared plan, run, " + size},
                    {"seconds", median_seconds([&] { plan.run(context, operands, destination); })},
                    {"note", std::string(plan.trace()[0].backend)}});
    verify("run " + size);
    const BoundCall bound = plan.bind(context, operands, destination);
    rows.push_back(
        {{"name", "prepared plan, bound, " + size}, {"seconds", median_seconds([&] { bound(); })}});
    verify("bound " + size);
    rows.push_back({{"name", "string, einsum_into, " + size},
                    {"seconds", median_seconds([&] {
                       einsum_into(context, "ij,jk->ik", destination, operands, {}, {});
                     })}});
    verify("string " + size);
  }
}

double norm(const std::vector<double>& v) {
  double s = 0;
  for (double x : v) s += x * x;
  return std::sqrt(s);
}

void bench_network(const std::filesystem::path& file, json& rows) {
  const NetworkFile network = read_network(file.string());
  if (network.paths.empty()) return;
  std::vector<std::vector<double>> data;
  std::vector<Operand> operands;
  std::vector<Layout> layouts;
  for (std::size_t i = 0; i < network.shapes.size(); ++i) {
    const Dims shape(network.shapes[i]);
    std::size_t n = 1, longest = 1;
    for (std::int64_t e : shape)
      n *= static_cast<std::size_t>(e), longest = std::max<std::size_t>(longest, e);
    data.push_back(random_values(n, 100 + i));
    for (double& x : data.back()) x /= std::sqrt(static_cast<double>(longest));
    operands.emplace_back(View<double>(data.back().data(), shape));
    layouts.push_back(layout_of(operands.back()));
  }
  std::vector<double> results[3];
  int which = 0;
  for (const char* path : {"opt_flops", "opt_size", "own"}) {
    EinsumOptions options;
    for (const auto& [name, stored] : network.paths)
      if (name == path) options.path = stored;
    double start = now();
    Engine engine = Engine::make();
    const ExecContext context = ExecContext::serial(engine);
    const PreparedPlan plan = prepare(context, network.expression, layouts, {}, {}, options);
    const double prepare_seconds = now() - start;
    std::vector<double>& c = results[which++];
    std::size_t size = 1;
    for (std::int64_t e : plan.plan().destination.extents) size *= static_cast<std::size_t>(e);
    c.assign(size, 0);
    const Destination destination(MutableView<double>(c.data(), plan.plan().destination.extents));
    start = now();
    plan.run(context, operands, destination);
    const double first = now() - start;
    const double seconds =
        first > 3 ? first : median_seconds([&] { plan.run(context, operands, destination); }, 1.0);
    rows.push_back({{"name", network.name + " " + path},
                    {"seconds", seconds},
                    {"prepare_seconds", prepare_seconds},
                    {"tc", plan.plan().costs.tc},
                    {"kernels", engine.statistics().kernels_compiled}});
    std::fprintf(stderr, "%s %s %.3f ms\n", network.name.c_str(), path, seconds * 1e3);
  }
  for (int i = 1; i < 3; ++i) {
    double difference = 0;
    for (std::size_t j = 0; j < results[0].size(); ++j)
      difference += std::pow(results[i][j] - results[0][j], 2);
    check(std::sqrt(difference) <= 1e-9 * norm(results[0]), network.name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  choose_blas_core();
  json rows = json::array();
  bench_products(rows);
  if (argc > 1) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) bench_network(file, rows);
  }
  Engine engine = Engine::make();
  const json out{{"machine", to_text(engine.machine())}, {"rows", rows}};
  std::printf("%s\n", out.dump(1).c_str());
}
