// Runs this very program again, for what only a process of its own can show.
#pragma once

#include <string>
#include <vector>

namespace einjit {

struct ProcessResult {
  int status = -1;     // exit status; −1: killed by a signal; −2: did not end in time
  std::string output;  // of its standard output
};

/// Starts /proc/self/exe with these words and waits at most this long, then kills it.
ProcessResult run_own_program(std::vector<std::string> words, int timeout_seconds);

}  // namespace einjit
