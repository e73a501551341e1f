// Starting, watching and reaping a child.
#include "tools/own_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "einjit/error.h"

extern char** environ;

namespace einjit {
namespace {

/// The child's output until it closes the pipe; false if the time ends first.
bool read_all(int descriptor, int timeout_seconds, std::string& output) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(timeout_seconds);
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd waiting{descriptor, POLLIN, 0};
    if (left <= 0 || poll(&waiting, 1, static_cast<int>(left)) <= 0) return false;
    char block[4096];
    const ssize_t got = read(descriptor, block, sizeof block);
    if (got <= 0) return true;
    output.append(block, static_cast<std::size_t>(got));
  }
}

}  // namespace

ProcessResult run_own_program(std::vector<std::string> words, int timeout_seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorCode::io_error, "cannot make a pipe");
  words.insert(words.begin(), "/proc/self/exe");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = -1;
  const int failure =
      posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  ProcessResult result;
  const bool in_time = failure == 0 && read_all(ends[0], timeout_seconds, result.output);
  close(ends[0]);
  if (failure != 0) throw Error(ErrorCode::io_error, "cannot start this program again");
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  result.status = !in_time ? -2 : WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

}  // namespace einjit
