// einjit_cases: replays cases reported against other systems (tests/cases/README.md).
//
// Prints failures, cases that were not run with the reason, and with --figures the measured times;
// the last line is "passed P, expected errors E, unsupported U, failed F". The exit status is 0
// only if U = F = 0.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "tools/blas_core.h"
#include "tools/call_options.h"
#include "tools/case_json.h"
#include "tools/generated_networks.h"
#include "tools/reported_replay.h"
#include "tools/reported_value.h"
#include "tools/stress_cases.h"

using namespace einjit;
using nlohmann::json;

namespace {

struct CasesOptions {
  std::vector<std::string> files, only;
  CallOptions call;
  StressOptions stress;
  bool figures = false;
  std::string json_file, exit_while;
  std::int32_t grid_tree = 0;
};

void declare(CLI::App& app, CasesOptions& options) {
  app.add_option("files", options.files, "JSON lines, one case each");
  options.call.add_to(app);
  app.add_option("--only", options.only, "ids of the cases to run");
  app.add_flag("--full", options.stress.full, "stress cases at the counts they name (hours, 6 GB)");
  app.add_flag("--figures", options.figures, "print times and costs beside their budgets");
  app.add_option("--json", options.json_file, "write every case's outcome to this file");
  app.add_option("--exit-while", options.exit_while)->group("");
  app.add_option("--print-grid-tree", options.grid_tree)->group("");
  app.footer("Example: einjit_cases tests/cases/reported.jsonl --figures");
}

struct Ran {
  std::string id;
  bool run = true;
  CaseVerdict result{};  // not run: the figure is the reason
  double seconds = 0;
};

Ran run_stress(const std::string& id, const StressOptions& options) {
  for (const StressCase& row : stress_cases()) {
    if (row.id != id) continue;
    if (row.run == nullptr || (row.full_only && !options.full))
      return {id, false, {{}, std::string(row.reason)}};
    Ran ran{id};
    try {
      StressResult result = row.run(options);
      ran.result.figure = result.figure;
      if (!result.wrong.empty()) ran.result.verdict = {Outcome::failed, result.wrong};
    } catch (const std::exception& e) {
      ran.result.verdict = {Outcome::failed, e.what()};
    }
    return ran;
  }
  return {id, false, {{}, "no function of tools/stress_cases.cc has this id"}};
}

Ran run_case(const ExecContext& context, const EinsumOptions& options, const StressOptions& stress,
             json reported) {
  const std::string id = reported.at("id").get<std::string>();
  const std::string mode = reported.at("mode").get<std::string>();
  take_alternative(reported);
  if (mode == "stress") return run_stress(id, stress);
  Ran ran{id};
  if (mode == "plan")
    ran.result = replay_plan(context, reported, options);
  else if (mode == "perf")
    ran.result = replay_perf(context, reported, options);
  else
    ran.result = replay_call(context, reported, options);
  return ran;
}

bool wanted(const CasesOptions& options, const std::string& id) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), id) != options.only.end();
}

constexpr const char* kOutcomes[] = {"passed", "expected error", "unsupported", "failed"};

void write_json(const std::string& file, const std::vector<Ran>& all) {
  json out = json::array();
  for (const Ran& ran : all)
    out.push_back(
        {{"id", ran.id},
         {"outcome", ran.run ? kOutcomes[static_cast<int>(ran.result.verdict.outcome)] : "not run"},
         {"sentence", ran.result.verdict.sentence},
         {"figure", ran.result.figure},
         {"seconds", ran.seconds}});
  if (!(std::ofstream(file) << out.dump(1) << "\n"))
    throw Error(ErrorCode::io_error, "cannot write " + file);
}

/// Everything but failures, which were printed as they came.
void print_summary(const std::vector<Ran>& all, bool figures) {
  int count = 0;
  std::string reasons;
  for (const Ran& ran : all) {
    if (figures && ran.run && !ran.result.figure.empty())
      std::printf("%s: %s\n", ran.id.c_str(), ran.result.figure.c_str());
    if (ran.run) continue;
    ++count;
    reasons += (reasons.empty() ? "" : "; ") + ran.id + ": " + ran.result.figure;
  }
  std::printf("not run: %d%s\n", count, count ? (" (" + reasons + ")").c_str() : "");
}

int run(const CasesOptions& options) {
  Engine engine = options.call.engine();
  const ExecContext context = options.call.context(engine);
  const EinsumOptions call = options.call.einsum_options();
  Tally tally;
  std::vector<Ran> all;
  for (const std::string& file : options.files)
    for (const std::string& line : read_lines(file)) {
      const json reported = json::parse(line);
      const std::string id = reported.at("id").get<std::string>();
      if (!wanted(options, id)) continue;
      const auto start = std::chrono::steady_clock::now();
      Ran ran;
      try {
        ran = run_case(context, call, options.stress, reported);
      } catch (const std::exception& e) {
        ran = {id, true, {{Outcome::failed, e.what()}, {}}};
      }
      ran.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (ran.run) tally.add(ran.result.verdict.outcome);
      if (!ran.result.verdict.sentence.empty())
        std::printf("FAILED %s %s: %s\n", id.c_str(), reported.value("expr", std::string()).c_str(),
                    ran.result.verdict.sentence.c_str());
      std::fflush(stdout);
      all.push_back(std::move(ran));
    }
  if (!options.json_file.empty()) write_json(options.json_file, all);
  print_summary(all, options.figures);
  tally.print();
  return tally.clean() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  choose_blas_core();
  CLI::App app{"Replays reported cases (tests/cases/README.md) through the public API.",
               "einjit_cases"};
  CasesOptions options;
  declare(app, options);
  try {
    app.parse(argc, argv);
    if (!options.exit_while.empty()) exit_while(options.exit_while);
    if (options.grid_tree > 0) {
      const Contraction contraction = grid(options.grid_tree, options.grid_tree, 2).contraction();
      std::printf("%s\n", to_text(find_tree(contraction, "auto", {})).c_str());
      return 0;
    }
    return run(options);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
