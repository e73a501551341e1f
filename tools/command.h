// The subcommands of einjit, each in a file of its own.
#pragma once

#include <CLI/CLI.hpp>

namespace einjit {

/// Adds a subcommand with its options; its work is its callback. Callbacks throw Error, or
/// CLI::ParseError for words that cannot be options.
void add_eval_command(CLI::App& program);
void add_plan_command(CLI::App& program);
void add_contract_command(CLI::App& program);
void add_machine_command(CLI::App& program);

}  // namespace einjit
