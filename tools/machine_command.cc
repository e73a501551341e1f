// `einjit machine`: what the planner believes about this computer.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "einjit/engine.h"
#include "jit/compiler.h"
#include "tools/blas_core.h"
#include "tools/command.h"

namespace einjit {
namespace {

struct MachineCommand {
  bool lowerings = false, as_json = false;
};

void print_json(const Machine& machine) {
  const nlohmann::json out{{"target_cpu", machine.target_cpu},
                           {"vector_bytes", machine.vector_bytes},
                           {"blas_available", machine.blas_available},
                           {"blas_name", machine.blas_name},
                           {"jit_flops_per_second", machine.jit_flops_per_second},
                           {"blas_flops_per_second", machine.blas_flops_per_second},
                           {"memory_bytes_per_second", machine.memory_bytes_per_second},
                           {"step_seconds", machine.step_seconds},
                           {"blas_call_seconds", machine.blas_call_seconds},
                           {"l1_bytes", machine.l1_bytes},
                           {"l2_bytes", machine.l2_bytes}};
  std::printf("%s\n", out.dump(1).c_str());
}

void warn_of_slow_core() {
  const char* core = std::getenv("OPENBLAS_CORETYPE");
  const std::string_view suitable = suitable_blas_core();
  if (core == nullptr || suitable.empty() || suitable == core) return;
  std::fprintf(stderr,
               "warning: OPENBLAS_CORETYPE is %s; this CPU suits %s, whose kernels may be several "
               "times faster\n",
               core, suitable.data());
}

void run(const MachineCommand& command) {
  if (command.lowerings) {
    for (const std::string_view lowering : jit::lowering_names())
      std::printf("%.*s\n", static_cast<int>(lowering.size()), lowering.data());
    return;
  }
  const Engine engine = Engine::make();
  if (command.as_json)
    print_json(engine.machine());
  else
    std::fputs(to_text(engine.machine()).c_str(), stdout);
  warn_of_slow_core();
}

}  // namespace

void add_machine_command(CLI::App& program) {
  auto command = std::make_shared<MachineCommand>();
  CLI::App* app =
      program.add_subcommand("machine", "Print what the planner knows of this computer.");
  app->add_flag("--lowerings", command->lowerings, "the names that --lowering takes, one a line");
  app->add_flag("--json", command->as_json, "as JSON");
  app->footer("Example: einjit machine --json");
  app->callback([command] { run(*command); });
}

}  // namespace einjit
