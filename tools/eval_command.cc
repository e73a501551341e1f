// `einjit eval`: contracts arrays in .npy files.
#include <cstdio>
#include <memory>

#include "runtime/npy.h"
#include "tools/call_options.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/result_text.h"

namespace einjit {
namespace {

constexpr std::int64_t kMostShown = 200;

struct EvalCommand {
  std::string expression, output;
  std::vector<std::string> files;
  CallOptions call;
  bool as_json = false;
};

void run(const EvalCommand& command) {
  const Interrupt interrupt;
  std::vector<NpyArray> arrays;
  for (const std::string& file : command.files) arrays.push_back(read_npy(file));
  std::vector<Operand> operands;
  for (const NpyArray& array : arrays) operands.push_back(array.operand());
  Engine engine = command.call.engine();
  const ExecContext context = command.call.context(engine).with_stop(interrupt.token());
  const Tensor result =
      einsum(context, command.expression, operands, command.call.einsum_options());
  if (!command.output.empty()) write_npy(command.output, result);
  if (command.as_json)
    std::printf("%s\n", tensor_json(result, kMostShown).dump().c_str());
  else if (command.output.empty())
    std::fputs(tensor_text(result, kMostShown).c_str(), stdout);
}

}  // namespace

void add_eval_command(CLI::App& program) {
  auto command = std::make_shared<EvalCommand>();
  CLI::App* app = program.add_subcommand("eval", "Contract arrays in .npy files.");
  app->add_option("expression", command->expression, "such as ij,jk->ik")->required();
  app->add_option("files", command->files, "one .npy file an operand (f4, f8, c8 or c16)");
  app->add_option("-o,--output", command->output,
                  "write the result here (.npy); else it is printed");
  command->call.add_to(*app);
  app->add_flag("--json", command->as_json, "dtype, shape, norm and first elements as JSON");
  app->footer("Example: einjit eval 'ij,jk->ik' a.npy b.npy -o c.npy");
  app->callback([command] { run(*command); });
}

}  // namespace einjit
