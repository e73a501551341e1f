// Stress cases about threads: whatever runs beside a call, its result has the same bits.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "tools/product.h"
#include "tools/stress_cases.h"

namespace einjit {
namespace {

constexpr int kThreads = 16;

EinsumOptions on(const char* backend) {
  EinsumOptions options;
  options.backend = backend;
  return options;
}

/// Eight threads whatever the computer has, so that arenas are what the cases say.
using Parallelism = oneapi::tbb::global_control;
constexpr auto kMostParallel = Parallelism::max_allowed_parallelism;

template <class Work>
void on_threads(int threads, Work work) {
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) all.emplace_back([&work, t] { work(t); });
  for (std::thread& thread : all) thread.join();
}

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

StressResult threads_agree(const StressOptions& options) {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  const int count = options.full ? 1000 : 200;
  FirstWrong wrong;
  for (const char* backend : {"jit", "blas", "auto"})
    on_threads(kThreads, [&](int t) {
      wrong.guard([&] {
        const Product p(45, 33, 37, t);
        const std::vector<double> right = p.run(context, on(backend));
        if (right != p.by_loops()) wrong.report(std::string(backend) + ": a wrong first result");
        for (int i = 0; i < count; ++i)
          if (!same_bits(p.run(context, on(backend)), right))
            return wrong.report(std::string(backend) + ": thread " + std::to_string(t) + ", call " +
                                std::to_string(i) + " gave other bits");
      });
    });
  return {wrong.sentence(), {}};
}

StressResult long_call_beside_short_ones(const StressOptions&) {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  const Product large(700, 700, 700, 1);
  FirstWrong wrong;
  std::atomic<bool> done = false;
  std::thread long_call([&] {
    wrong.guard([&] {
      const std::vector<double> first = large.run(context, on("blas"));
      for (int i = 0; i < 5; ++i)
        if (!same_bits(large.run(context, on("blas")), first))
          wrong.report("the long call gave other bits");
    });
    done = true;
  });
  wrong.guard([&] {
    const Product p(64, 64, 64, 2);
    const std::vector<double> right = p.by_loops();
    do {
      if (p.run(context, on("blas")) != right) wrong.report("a 64×64 product beside it is wrong");
    } while (!done);
  });
  long_call.join();
  return {wrong.sentence(), {}};
}

StressResult waiting_never_steals(const StressOptions& options) {
  const Parallelism eight(kMostParallel, 8);
  Engine engine = Engine::make();
  const Product p(160, 160, 160, 1);
  const std::vector<double> right = p.by_loops();
  FirstWrong wrong;
  std::mutex users;
  thread_local bool inside = false;
  oneapi::tbb::task_arena outer(4);
  outer.execute([&] {
    oneapi::tbb::task_group group;
    for (int i = 0; i < (options.full ? 2000 : 200); ++i)
      group.run([&] {
        wrong.guard([&] {
          if (inside) return wrong.report("a thread that waited inside a call took an outer task");
          const std::lock_guard lock(users);
          inside = true;
          if (p.run(ExecContext::max_threads(engine, 4), on("jit")) != right)
            wrong.report("a wrong result");
          inside = false;
        });
      });
    group.wait();
  });
  return {wrong.sentence(), {}};
}

StressResult two_arenas(const StressOptions& options) {
  const Parallelism eight(kMostParallel, 8);
  Engine engine = Engine::make();
  const Product p(64, 64, 64, 1);
  const std::vector<double> right = p.by_loops();
  FirstWrong wrong;
  on_threads(2, [&](int) {
    oneapi::tbb::task_arena arena(6);
    for (int i = 0; i < (options.full ? 100000 : 2000); ++i)
      wrong.guard([&] {
        arena.execute([&] {
          if (p.run(ExecContext::ambient(engine), on("jit")) != right)
            wrong.report("a wrong result");
        });
      });
  });
  return {wrong.sentence(), {}};
}

StressResult tiny_work_stays_serial(const StressOptions& options) {
  Engine engine = Engine::make();
  const Product p(23, 23, 23, 1);
  const std::vector<double> right = p.by_loops();
  const int count = options.full ? 1000000 : 20000;
  double seconds[2] = {0, 0};
  const ExecContext contexts[] = {ExecContext::serial(engine), ExecContext::max_threads(engine, 2)};
  for (int which = 0; which < 2; ++which) {
    if (p.run(contexts[which]) != right) return {"a wrong result", {}};
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) (void)p.run(contexts[which]);
    seconds[which] = since(start);
  }
  char figure[120];
  std::snprintf(figure, sizeof figure, "%d products: %.3g s serial, %.3g s with two threads", count,
                seconds[0], seconds[1]);
  return {{}, figure};
}

StressResult compiles_beside_runs(const StressOptions& options) {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  const int rounds = options.full ? 200 : 8;
  FirstWrong wrong;
  on_threads(2 * kThreads, [&](int t) {
    wrong.guard([&] {
      const Product p(8 + t, 8, 8, t);
      const std::vector<double> right = p.by_loops();
      const bool compiles = t < kThreads;
      for (int round = 0; round < (compiles ? rounds : rounds * 20); ++round) {
        if (compiles) engine.clear();
        if (p.run(context, on("jit")) != right)
          return wrong.report("thread " + std::to_string(t) + ": a wrong result");
      }
    });
  });
  return {wrong.sentence(), {}};
}

}  // namespace einjit
