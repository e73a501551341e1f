// `einjit contract`: plans, compiles and runs a network on inputs drawn from a seed.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

#include "tools/call_options.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/problem.h"
#include "tools/result_text.h"
#include "tools/typed_buffer.h"

namespace einjit {
namespace {

constexpr std::int64_t kMostShown = 8;

struct ContractCommand {
  std::string what, type;
  std::vector<std::string> shapes;
  CallOptions call;
  bool as_json = false;
};

struct Contracted {
  double prepare_seconds = 0, run_seconds = 0, flops = 0, flops_per_second = 0;
  std::int64_t peak_bytes = 0;
  Tensor result;
};

/// Uniform numbers scaled so that every result has variance near 1 however long the network: a
/// summed label of extent e and h holders takes e^(−1/2h) from each of them.
std::vector<Tensor> draw_operands(const Problem& problem, const Contraction& contraction,
                                  std::uint64_t seed) {
  std::vector<double> holders(contraction.extents.size(), 0);
  for (const auto& axes : contraction.axes)
    for (const LabelId label : axes) ++holders[static_cast<std::size_t>(label)];
  for (const LabelId label : contraction.output) holders[static_cast<std::size_t>(label)] = 0;
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < problem.operands.size(); ++i) {
    const Layout& layout = problem.operands[i];
    double scale = std::sqrt(3.0);
    for (const LabelId label : contraction.axes[i]) {
      const auto l = static_cast<std::size_t>(label);
      const auto extent = static_cast<double>(contraction.extents[l]);
      if (holders[l] > 0 && extent > 1) scale *= std::pow(extent, -0.5 / holders[l]);
    }
    tensors.push_back(random_operand(layout.type, layout.extents, seed + i));
    with_element(layout.type, [&]<class T>() {
      T* const values = tensors.back().view<T>().data();
      for (std::int64_t k = 0; k < tensors.back().size(); ++k)
        values[k] *= static_cast<decltype(std::abs(T()))>(scale);
    });
  }
  return tensors;
}

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Contracted contract(const ContractCommand& command, const Problem& problem,
                    const std::stop_token& stop) {
  Engine engine = command.call.engine();
  const ExecContext context = command.call.context(engine).with_stop(stop);
  const EinsumOptions options = problem.options(command.call);
  const Contraction contraction = problem.contraction(options.sizes);
  const auto start = std::chrono::steady_clock::now();
  const PreparedPlan prepared =
      prepare(context, problem.expression, problem.operands, {}, {}, options);
  const double prepare_seconds = since(start);
  const std::vector<Tensor> tensors = draw_operands(problem, contraction, command.call.seed);
  const std::vector<Operand> operands(tensors.begin(), tensors.end());
  const Plan& plan = prepared.plan();
  Contracted done{prepare_seconds,
                  0,
                  plan.costs.flops,
                  0,
                  plan.peak_bytes(command.call.threads),
                  Tensor::zeros(plan.destination.type, Dims(plan.destination.extents))};
  const auto run_start = std::chrono::steady_clock::now();
  with_element(plan.destination.type, [&]<class T>() {
    prepared.run(context, operands, Destination(done.result.view<T>()));
  });
  done.run_seconds = since(run_start);
  const double each = is_complex(plan.result) ? 8 : 2;  // floating-point operations a multiply-add
  done.flops_per_second = each * done.flops / done.run_seconds;
  return done;
}

void run(const ContractCommand& command) {
  const Interrupt interrupt;
  const Problem problem = read_problem(command.what, command.shapes, command.type);
  const Contracted done = contract(command, problem, interrupt.token());
  if (command.as_json) {
    nlohmann::json out = tensor_json(done.result, kMostShown);
    out["name"] = problem.name;
    out["prepare_seconds"] = done.prepare_seconds;
    out["run_seconds"] = done.run_seconds;
    out["flops"] = done.flops;
    out["gflops_per_second"] = done.flops_per_second / 1e9;
    out["peak_bytes"] = done.peak_bytes;
    std::printf("%s\n", out.dump().c_str());
    return;
  }
  std::printf("%s, seed %llu\n", problem.name.c_str(),
              static_cast<unsigned long long>(command.call.seed));
  std::printf("planned and compiled in %.3g s, contracted in %.3g s\n", done.prepare_seconds,
              done.run_seconds);
  std::printf("%.6g multiply-adds, %.3g GFLOP/s, peak %lld bytes\n", done.flops,
              done.flops_per_second / 1e9, static_cast<long long>(done.peak_bytes));
  std::printf("norm %.15g\n%s", norm_of(done.result), tensor_text(done.result, kMostShown).c_str());
}

}  // namespace

void add_contract_command(CLI::App& program) {
  auto command = std::make_shared<ContractCommand>();
  CLI::App* app =
      program.add_subcommand("contract", "Run a network on inputs drawn from a seed; time it.");
  app->add_option("what", command->what, "a network file (.json), or an expression")->required();
  app->add_option("--shapes", command->shapes, "of an expression: one an operand, such as 8,9");
  app->add_option("--dtype", command->type, "element type of the operands; f64, or the file's")
      ->check(CLI::IsMember({"f32", "f64", "c64", "c128"}));
  command->call.add_to(*app);
  app->add_flag("--json", command->as_json, "the same as JSON");
  app->footer("Example: einjit contract network.json --threads 2 --memory-limit 4G");
  app->callback([command] { run(*command); });
}

}  // namespace einjit
