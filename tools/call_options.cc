// Command-line options → EinsumOptions and ExecContext.
#include "tools/call_options.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include "tools/case_json.h"

namespace einjit {
namespace {

LabelExtent parse_size(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  std::int64_t extent = 0;
  const char* const end = text.data() + text.size();
  if (equals == std::string::npos || equals + 1 == text.size() ||
      std::from_chars(text.data() + equals + 1, end, extent).ptr != end)
    throw Error(ErrorCode::invalid_argument,
                "--sizes \"" + text + "\": expected LABEL=EXTENT, such as i=3");
  return {read_label(text.substr(0, equals)), extent};
}

LinearPath stored_path(const std::string& wanted, const NetworkFile* network) {
  if (network == nullptr)
    throw Error(ErrorCode::invalid_argument,
                "--path stored:" + wanted + ": only a network file stores paths");
  std::string known;
  for (const auto& [name, path] : network->paths) {
    if (name == wanted) return path;
    known += (known.empty() ? "" : ", ") + name;
  }
  throw Error(ErrorCode::invalid_argument,
              "the network stores no path \"" + wanted + "\"; " +
                  (known.empty() ? "it stores none" : "it stores " + known));
}

bool is_finder(const std::string& name) {
  for (const PathFinder* finder : path_finders())
    if (finder->name == name) return true;
  return false;
}

}  // namespace

void CallOptions::add_to(CLI::App& command) {
  std::string finders;
  for (const PathFinder* finder : path_finders())
    finders += (finders.empty() ? "" : ", ") + std::string(finder->name);
  command
      .add_option("--path", path,
                  "order of contraction: " + finders +
                      ", stored:NAME (of a network file), or a JSON file with a list of lists of "
                      "positions (opt_einsum's linear form)")
      ->capture_default_str();
  command
      .add_option("--backend", backend,
                  "auto, reference, jit or blas; jit! and blas! never fall back")
      ->capture_default_str();
  command.add_option("--blas", blas,
                     "shared library with a Fortran BLAS, instead of Debian's OpenBLAS");
  command.add_option("--lowering", lowering, "force one way of the jit to run loops");
  command.add_option("--threads", threads, "at most this many; 1 is serial")->capture_default_str();
  command.add_option("--memory-limit", memory_limit,
                     "bytes beside operands and result; suffixes k, M, G are powers of 1024");
  command.add_option("--sizes", sizes, "LABEL=EXTENT for labels that no operand has");
  command.add_option("--seed", seed, "of the search, and of drawn inputs")->capture_default_str();
}

EinsumOptions CallOptions::einsum_options(const NetworkFile* network) const {
  EinsumOptions options;
  if (path.starts_with("stored:"))
    options.path = stored_path(path.substr(7), network);
  else if (!is_finder(path) && (path.ends_with(".json") || std::filesystem::exists(path)))
    options.path = read_path_file(path);
  else
    options.finder = path;
  options.backend = backend;
  options.lowering = lowering;
  options.seed = seed;
  if (!memory_limit.empty()) options.memory_limit_bytes = parse_bytes(memory_limit);
  options.threads = threads;
  for (const std::string& size : sizes) options.sizes.push_back(parse_size(size));
  return options;
}

Engine CallOptions::engine() const {
  EngineOptions options;
  if (!blas.empty()) options.blas_path = std::filesystem::absolute(blas).string();
  if (!blas.empty() && !std::ifstream(blas))
    throw Error(ErrorCode::io_error, "cannot read the BLAS " + blas);
  return Engine::make(options);
}

ExecContext CallOptions::context(Engine& engine) const {
  return threads == 1 ? ExecContext::serial(engine) : ExecContext::max_threads(engine, threads);
}

double parse_bytes(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, value);
  double unit = 1;
  if (rest + 1 == end) {
    constexpr std::string_view kSuffixes = "kMG";
    const std::size_t power = kSuffixes.find(*rest);
    unit = power == std::string_view::npos ? 0 : std::pow(1024.0, static_cast<double>(power + 1));
  }
  if (failure != std::errc() || end - rest > 1 || unit == 0 || !(value >= 0))
    throw Error(ErrorCode::invalid_argument,
                "\"" + text + "\" is no number of bytes; expected such as 1500, 512k, 1.5G");
  return value * unit;
}

LinearPath read_path_file(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw Error(ErrorCode::io_error, "cannot read the path file " + file);
  try {
    return nlohmann::json::parse(stream).get<LinearPath>();
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorCode::corrupt_file,
                file + " is no JSON list of lists of positions: " + e.what());
  }
}

}  // namespace einjit
