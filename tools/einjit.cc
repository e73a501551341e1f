// einjit: plans and contracts einsum expressions and whole networks from the command line.
//
// Every subcommand is one file and one row of kCommands. Exit status: 0, 1 for an einjit::Error
// (its code and sentence on stderr), 2 for a command line that makes no sense.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "einjit/error.h"
#include "tools/blas_core.h"
#include "tools/command.h"

namespace {

constexpr void (*kCommands[])(CLI::App&) = {
    &einjit::add_eval_command,
    &einjit::add_plan_command,
    &einjit::add_contract_command,
    &einjit::add_machine_command,
};

constexpr const char* kExamples = R"(Examples:
  einjit eval 'ij,jk->ik' a.npy b.npy -o c.npy
  einjit plan 'ij,jk,kl->il' --shapes 8,9 9,10 10,11
  einjit plan network.json --path greedy --json
  einjit contract network.json --threads 2 --memory-limit 4G
  einjit machine
`einjit COMMAND --help` lists a command's options.)";

/// The command line, last word first as CLI11 wants it. An expression such as "->" would read as an
/// option; the grammar ignores a space before it.
std::vector<std::string> reversed_words(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::string& word : words)
    if (word.starts_with("->")) word.insert(0, " ");
  std::reverse(words.begin(), words.end());
  return words;
}

int complain(const char* code, const char* sentence) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s: %s\n", code, sentence);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  einjit::choose_blas_core();
  CLI::App program{"Plans, compiles and runs einsum expressions.", "einjit"};
  program.require_subcommand(1);
  program.footer(kExamples);
  for (const auto add : kCommands) add(program);
  try {
    program.parse(reversed_words(argc, argv));
    return 0;
  } catch (const CLI::ParseError& e) {
    return program.exit(e) == 0 ? 0 : 2;
  } catch (const einjit::Error& e) {
    return complain(std::string(einjit::name(e.code())).c_str(), e.what());
  } catch (const std::bad_alloc&) {
    return complain("out_of_memory", "no memory left outside a contraction");
  } catch (const std::exception& e) {
    return complain("internal fault", e.what());
  }
}
