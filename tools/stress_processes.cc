// Stress cases about processes: fork and exit at awkward moments.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "tools/own_process.h"
#include "tools/product.h"
#include "tools/stress_cases.h"

namespace einjit {
namespace {

constexpr int kPatienceSeconds = 20;

/// Forks a child that parses and ends; empty where it ended well in time.
std::string fork_once() {
  const pid_t child = fork();
  if (child == 0) _exit(parse("ij,jk->ik").inputs.size() == 2 ? 0 : 1);
  if (child < 0) return "fork failed";
  int status = 0;
  for (int i = 0; i < kPatienceSeconds * 100; ++i) {
    if (waitpid(child, &status, WNOHANG) == child)
      return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : "the child ended with a fault";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return "the child hung";
}

}  // namespace

StressResult forks_while_computing(const StressOptions& options) {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::max_threads(engine, 2);
  const Product p(200, 200, 200, 1);
  const std::vector<double> right = p.by_loops();
  FirstWrong wrong;
  std::atomic<int> forking = 2;
  const auto forker = [&] {
    for (int i = 0; i < (options.full ? 100 : 10); ++i)
      if (const std::string fault = fork_once(); !fault.empty()) wrong.report(fault);
    --forking;
  };
  std::thread first(forker), second(forker);
  wrong.guard([&] {
    while (forking > 0)
      if (p.run(context) != right) wrong.report("the computing thread gave a wrong result");
  });
  first.join();
  second.join();
  return {wrong.sentence(), {}};
}

StressResult exits_cleanly(const StressOptions&) {
  for (const char* moment : {"idle", "running"}) {
    const ProcessResult result = run_own_program({"--exit-while", moment}, kPatienceSeconds);
    if (result.status != 0)
      return {std::string("exit() while a worker was ") + moment + ": " +
                  (result.status == -2   ? "hung"
                   : result.status == -1 ? "crashed"
                                         : "status " + std::to_string(result.status)),
              {}};
  }
  return {};
}

void exit_while(std::string_view what) {
  static Engine engine = Engine::make();  // destroyed by exit(), after main has ended
  const Product p(300, 300, 300, 1);
  (void)p.run(ExecContext::max_threads(engine, 2));
  static std::atomic<bool> started = false;
  if (what == "running") {
    std::thread([] {
      Engine& lasting = *new Engine(Engine::make());  // exit() must not destroy what still runs
      const ExecContext context = ExecContext::serial(lasting);
      const Product large(1500, 1500, 1500, 1);
      started = true;
      for (;;) (void)large.run(context);
    }).detach();
    while (!started) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  std::exit(0);
}

}  // namespace einjit
