// einjit_oracle: replays folders of exact records and counts what came of them.
//
// One Engine serves the whole run (with --cached, one a job), so that equal kernels compile once;
// records are replayed several
// at a time and reported in the order of the files. The last line printed is "passed P, expected
// errors E, unsupported U, failed F"; the exit status is 0 only if U = F = 0.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/backends.h"
#include "runtime/blas_library.h"
#include "tools/blas_core.h"
#include "tools/call_options.h"
#include "tools/case_json.h"
#include "tools/oracle_replay.h"

using namespace einjit;

namespace {

struct OracleOptions {
  std::vector<std::string> places;
  CallOptions call;
  std::int64_t sample = 0;
  std::string shard;
  std::vector<std::string> skip, only, backends;
  ReplayMode mode;
  bool statistics = false;
  std::int64_t most_shown = 50;
  std::int32_t jobs = static_cast<std::int32_t>(std::max(1u, std::thread::hardware_concurrency()));
};

void declare(CLI::App& app, OracleOptions& options) {
  app.add_option("places", options.places, "folders and .jsonl files of records")->required();
  options.call.add_to(app);
  app.add_option("--backends", options.backends,
                 "one after the other on one Engine, which shares their kernels: jit,blas,auto")
      ->delimiter(',');
  app.add_option("--sample", options.sample, "this many records, spread evenly over all files");
  app.add_option("--shard", options.shard, "I/N: every N-th record, from the I-th on");
  app.add_option("--skip", options.skip, "leave out records whose id contains this");
  app.add_option("--only", options.only, "only records whose id contains this");
  app.add_flag("--uninit", options.mode.uninit,
               "results go into storage without a value (sentinels; under valgrind, undefined "
               "bytes), every buffer between guard pages");
  app.add_flag("--cached", options.mode.cached,
               "every call twice: its plan is made, then comes from the cache; equal bits");
  app.add_option("--jobs,--concurrent", options.jobs, "records replayed at a time, on one Engine")
      ->capture_default_str();
  app.add_flag("--statistics", options.statistics, "print what the Engine made and compiled");
  app.add_option("--most-shown", options.most_shown, "failures printed")->capture_default_str();
  app.footer("Example: einjit_oracle tests/oracle --backend jit --path optimal --threads 2");
}

std::vector<std::filesystem::path> files_at(const std::vector<std::string>& places) {
  std::vector<std::filesystem::path> files;
  for (const std::string& place : places) {
    if (!std::filesystem::is_directory(place)) {
      files.emplace_back(place);
      continue;
    }
    const std::size_t first = files.size();
    for (const auto& entry : std::filesystem::directory_iterator(place))
      if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
  }
  return files;
}

/// Every k-th of all records in the order of the files: each file gets its share.
void keep_sample(std::vector<std::string>& lines, std::int64_t sample) {
  const auto all = static_cast<std::int64_t>(lines.size());
  if (sample <= 0 || sample >= all) return;
  for (std::int64_t i = 0; i < sample; ++i)
    std::swap(lines[static_cast<std::size_t>(i)],
              lines[static_cast<std::size_t>(i * all / sample)]);
  lines.resize(static_cast<std::size_t>(sample));
}

void keep_shard(std::vector<std::string>& lines, const std::string& shard) {
  if (shard.empty()) return;
  int index = 0, count = 0, end = 0;
  if (std::sscanf(shard.c_str(), "%d/%d%n", &index, &count, &end) != 2 || count < 1 || index < 0 ||
      index >= count || static_cast<std::size_t>(end) != shard.size())
    throw Error(ErrorCode::invalid_argument,
                "--shard \"" + shard + "\": expected I/N with 0 ≤ I < N, such as 0/4");
  std::vector<std::string> kept;
  for (std::size_t i = static_cast<std::size_t>(index); i < lines.size();
       i += static_cast<std::size_t>(count))
    kept.push_back(std::move(lines[i]));
  lines = std::move(kept);
}

bool contains_any(const std::string& id, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return id.find(part) != std::string::npos; });
}

/// The finder asked for, where it takes so many operands; "auto" for larger networks.
class FinderChoice {
 public:
  explicit FinderChoice(EinsumOptions options) : options_(std::move(options)), fallback_(options_) {
    for (const PathFinder* finder : path_finders())
      if (finder->name == options_.finder) finder_ = finder;
    fallback_.finder = "auto";
  }
  bool accepts(const OracleRecord& record) const {
    if (finder_ == nullptr || record.operands.size() <= 2) return true;
    std::vector<std::span<const std::int64_t>> shapes;
    for (const OracleBuffer& operand : record.operands) shapes.push_back(operand.shape.span());
    try {
      return finder_->accepts(network_of(resolve(parse(record.expression), shapes, record.sizes)));
    } catch (const Error&) {
      return true;  // a record of an error: the call itself says so
    }
  }
  const EinsumOptions& options(bool accepted) const { return accepted ? options_ : fallback_; }

 private:
  EinsumOptions options_, fallback_;
  const PathFinder* finder_ = nullptr;
};

/// What came of one line of a file.
struct Replayed {
  std::string record;  // id and expression
  Verdict verdict;
  bool left_out = false, by_auto = false;
};

Replayed replay_line(const OracleOptions& options, const ExecContext& context,
                     const FinderChoice& finder, const std::string& line, std::size_t index) {
  Replayed done;
  done.record = "(unreadable record)";
  try {
    const OracleRecord record = parse_oracle_record(line);
    done.record = record.id + " " + record.expression;
    done.left_out = contains_any(record.id, options.skip) ||
                    (!options.only.empty() && !contains_any(record.id, options.only));
    if (done.left_out) return done;
    done.by_auto = !finder.accepts(record);
    ReplayMode mode = options.mode;
    mode.index = index;
    done.verdict = replay(context, record, finder.options(!done.by_auto), mode);
  } catch (const std::exception& e) {
    done.verdict = {Outcome::failed, e.what()};
  }
  return done;
}

/// All records, several at a time: those of one Engine share it, and nothing else. With one Engine
/// a job, its statistics count one record's calls at a time.
std::vector<Replayed> replay_all(const OracleOptions& options, std::vector<Engine>& engines,
                                 const std::vector<std::string>& lines) {
  const FinderChoice finder(options.call.einsum_options());
  std::vector<Replayed> all(lines.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&](Engine& engine) {
    const ExecContext context = options.call.context(engine);
    for (std::size_t i = next++; i < lines.size(); i = next++)
      all[i] = replay_line(options, context, finder, lines[i], i);
  };
  std::vector<std::jthread> others;
  for (std::int32_t job = 1; job < options.jobs; ++job)
    others.emplace_back(work, std::ref(engines[static_cast<std::size_t>(job) % engines.size()]));
  work(engines.front());
  return all;
}

void print_statistics(const std::vector<Engine>& engines) {
  EngineStatistics sum;
  for (const Engine& engine : engines) {
    const EngineStatistics s = engine.statistics();
    sum.cache.preparations += s.cache.preparations;
    sum.cache.hits += s.cache.hits;
    sum.kernels_compiled += s.kernels_compiled;
    sum.compile_seconds += s.compile_seconds;
  }
  std::printf("plans made %lld, from the cache %lld; kernels compiled %lld in %.3g s\n",
              static_cast<long long>(sum.cache.preparations),
              static_cast<long long>(sum.cache.hits), static_cast<long long>(sum.kernels_compiled),
              sum.compile_seconds);
}

/// Which kernels the library took: asked of the one that the backend has opened.
void print_blas_core(const OracleOptions& options) {
  if (!options.call.backend.starts_with("blas")) return;
  std::printf("blas core: %s\n",
              BlasLibrary::open(BlasAddress{kDebianOpenBlas})->core_name().c_str());
}

/// Replays all records by the backend of `options` and prints what failed.
Tally replay_backend(const OracleOptions& options, std::vector<Engine>& engines,
                     const std::vector<std::string>& lines) {
  Tally tally;
  std::int64_t shown = 0, left_out = 0, by_auto = 0;
  for (const Replayed& done : replay_all(options, engines, lines)) {
    left_out += done.left_out;
    by_auto += done.by_auto;
    if (!done.left_out) tally.add(done.verdict.outcome);
    if (!done.verdict.sentence.empty() && shown++ < options.most_shown)
      std::printf("%s %s: %s\n",
                  done.verdict.outcome == Outcome::unsupported ? "UNSUPPORTED" : "FAILED",
                  done.record.c_str(), done.verdict.sentence.c_str());
  }
  if (shown > options.most_shown)
    std::printf("… and %lld more\n", static_cast<long long>(shown - options.most_shown));
  if (left_out > 0)
    std::printf("left out by --skip or --only: %lld\n", static_cast<long long>(left_out));
  if (by_auto > 0)
    std::printf("networks too large for \"%s\", contracted by \"auto\": %lld\n",
                options.call.path.c_str(), static_cast<long long>(by_auto));
  print_blas_core(options);
  return tally;
}

int run(OracleOptions options) {
  std::vector<std::string> lines;
  for (const auto& file : files_at(options.places))
    for (std::string& line : read_lines(file.string())) lines.push_back(std::move(line));
  keep_sample(lines, options.sample);
  keep_shard(lines, options.shard);
  const std::int32_t own = options.mode.cached ? options.jobs : 1;
  std::vector<Engine> engines;
  for (std::int32_t i = 0; i < std::max(own, 1); ++i) engines.push_back(options.call.engine());
  CacheLimits all_plans;  // so that no kernel is compiled twice
  all_plans.entries = 1 << 20;
  all_plans.retained_bytes = std::int64_t{8} << 30;
  for (Engine& engine : engines) engine.set_cache_limits(all_plans);
  if (options.backends.empty()) options.backends = {options.call.backend};
  Tally sum;
  for (const std::string& backend : options.backends) {
    options.call.backend = backend;
    const Tally tally = replay_backend(options, engines, lines);
    sum.add(tally);
    if (options.backends.size() == 1) break;
    std::printf("%s: ", backend.c_str());
    tally.print();
  }
  if (options.statistics) print_statistics(engines);
  sum.print();
  return sum.clean() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  choose_blas_core();
  CLI::App app{"Replays exact records (docs/records.md) through the public API.", "einjit_oracle"};
  OracleOptions options;
  declare(app, options);
  try {
    app.parse(argc, argv);
    return run(options);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
