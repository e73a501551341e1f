// `einjit plan`: what would be done, at what cost, without doing it.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/call_options.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/problem.h"

namespace einjit {
namespace {

using nlohmann::json;

struct PlanCommand {
  std::string what, type;
  std::vector<std::string> shapes;
  CallOptions call;
  bool as_json = false;
};

/// What is printed. A network too large to run has costs, and in place of a plan the reason.
struct Planned {
  ContractionTree tree;
  Costs costs;
  double search_seconds = 0;
  std::optional<Plan> plan;
  std::string refusal;
};

Planned make_planned(const Problem& problem, const Contraction& contraction,
                     const CallOptions& call, const std::stop_token& stop) {
  Engine engine = call.engine();
  const ExecContext context = call.context(engine).with_stop(stop);
  EinsumOptions options = problem.options(call);
  Planned planned;
  const auto start = std::chrono::steady_clock::now();
  if (options.path) {
    planned.tree =
        tree_from_linear(*options.path, static_cast<std::int32_t>(problem.operands.size()));
  } else if (options.memory_limit_bytes) {
    planned.plan = plan(context, problem.expression, problem.operands, {}, {}, options);
    planned.tree = planned.plan->tree;
  } else {
    planned.tree = find_tree(contraction, options.finder,
                             {options.seed, [stop] { return stop.stop_requested(); }});
    options.path = linear_path(planned.tree);
  }
  planned.search_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  planned.costs = cost_of(network_of(contraction), planned.tree);
  if (planned.plan) return planned;
  try {
    planned.plan = plan(context, problem.expression, problem.operands, {}, {}, options);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::size_overflow) throw;
    planned.refusal = e.what();
  }
  return planned;
}

void print_json(const Planned& planned, std::int32_t threads) {
  json out{{"tc", planned.costs.tc},
           {"sc", planned.costs.sc},
           {"rwc", planned.costs.rwc},
           {"flops", planned.costs.flops},
           {"peak_bytes", nullptr},
           {"search_seconds", planned.search_seconds},
           {"path", linear_path(planned.tree)}};
  if (planned.plan) out["peak_bytes"] = planned.plan->peak_bytes(threads);
  std::printf("%s\n", out.dump().c_str());
}

void print_text(const Problem& problem, const Planned& planned,
                const std::vector<std::string>& names, std::int32_t threads) {
  std::printf("%s\n", problem.name.c_str());
  std::printf("tc %.3f  sc %.3f  rwc %.3f  multiply-adds %.6g  ", planned.costs.tc,
              planned.costs.sc, planned.costs.rwc, planned.costs.flops);
  if (planned.plan)
    std::printf("peak %lld bytes  ", static_cast<long long>(planned.plan->peak_bytes(threads)));
  std::printf("searched %.3g s\n", planned.search_seconds);
  std::printf("path  %s\n", json(linear_path(planned.tree)).dump().c_str());
  if (planned.plan)
    std::fputs(explain(*planned.plan, names).c_str(), stdout);
  else
    std::printf("too large to run: %s\n", planned.refusal.c_str());
}

void run(const PlanCommand& command) {
  const Interrupt interrupt;
  const Problem problem = read_problem(command.what, command.shapes, command.type);
  const Contraction contraction = problem.contraction(problem.options(command.call).sizes);
  const Planned planned = make_planned(problem, contraction, command.call, interrupt.token());
  if (command.as_json)
    print_json(planned, command.call.threads);
  else
    print_text(problem, planned, contraction.names, command.call.threads);
}

}  // namespace

void add_plan_command(CLI::App& program) {
  auto command = std::make_shared<PlanCommand>();
  CLI::App* app = program.add_subcommand("plan", "Print the plan and its costs; run nothing.");
  app->add_option("what", command->what, "an expression, or a network file (.json)")->required();
  app->add_option("--shapes", command->shapes, "one an operand, such as 8,9; - for a scalar");
  app->add_option("--dtype", command->type, "element type of the operands; f64, or the file's")
      ->check(CLI::IsMember({"f32", "f64", "c64", "c128"}));
  command->call.add_to(*app);
  app->add_flag("--json", command->as_json,
                "tc, sc, rwc, flops, peak_bytes, search_seconds and the path as JSON");
  app->footer("Example: einjit plan 'ij,jk,kl->il' --shapes 8,9 9,10 10,11 --path optimal");
  app->callback([command] { run(*command); });
}

}  // namespace einjit
