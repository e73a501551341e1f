// What users choose for a call, on every command line: path, backend, BLAS, lowering, threads,
// memory limit.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "einjit/einsum.h"
#include "runtime/network_file.h"

namespace einjit {

struct CallOptions {
  std::string path = "auto";
  std::string backend = "auto";
  std::string blas;  // path of a shared library; empty: the default one
  std::string lowering;
  std::int32_t threads = 1;
  std::string memory_limit;
  std::vector<std::string> sizes;
  std::uint64_t seed = 0;

  void add_to(CLI::App& command);

  /// The library's form of them. `network`, if any, is where stored:NAME looks. Throws
  /// invalid_argument or corrupt_file for what cannot be read, io_error for a file that is not
  /// there.
  EinsumOptions einsum_options(const NetworkFile* network = nullptr) const;

  /// With the BLAS that was named. Throws io_error for one that is not there.
  Engine engine() const;

  /// One thread: serial; more: at most that many.
  ExecContext context(Engine& engine) const;
};

/// "1500", "512k", "1.5G": bytes, with powers of 1024.
double parse_bytes(const std::string& text);

/// A JSON list of lists of positions, opt_einsum's linear form.
LinearPath read_path_file(const std::string& file);

}  // namespace einjit
