// Thread policies: which threads run, how many, in which floating-point mode, to which bits.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <xmmintrin.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "einjit/einsum.h"
#include "runtime/executor.h"
#include "runtime/thread_policy.h"
#include "tests/runtime/made_steps.h"

namespace {
thread_local int widths_asked = 0;  // of TBB, on this thread
}

/// Stands before TBB's own, which knows no way to tell who asked: a question alone registers no
/// thread.
int tbb::detail::r1::max_concurrency(const d1::task_arena_base* arena) {
  using Function = int (*)(const d1::task_arena_base*);
  static const auto next = reinterpret_cast<Function>(
      dlsym(RTLD_NEXT, "_ZN3tbb6detail2r115max_concurrencyEPKNS0_2d115task_arena_baseE"));
  ++widths_asked;
  return next(arena);
}

namespace einjit {
namespace {

using testing::chain_plan;
using testing::fake_steps;

std::vector<double> numbers(std::size_t count, double start) {
  std::vector<double> values(count);
  for (double& v : values) {
    start = start > 2 ? start - 2.63 : start + 0.37;
    v = start;
  }
  return values;
}

/// Tiles that wait for one another: as many threads as tiles must come, or time runs out.
class Meeting {
 public:
  explicit Meeting(std::size_t wanted) : wanted_(wanted) {}
  void arrive() {
    std::unique_lock lock(mutex_);
    threads_.insert(std::this_thread::get_id());
    if (threads_.size() >= wanted_) all_.notify_all();
    all_.wait_for(lock, std::chrono::seconds(20), [&] { return threads_.size() >= wanted_; });
  }
  std::size_t threads() const { return threads_.size(); }

 private:
  const std::size_t wanted_;
  std::mutex mutex_;
  std::condition_variable all_;
  std::set<std::thread::id> threads_;
};

std::size_t threads_that_meet(const ExecContext& context, std::size_t wanted, std::int64_t tiles) {
  Meeting meeting(wanted);
  const Executor executor(chain_plan(1, 1e6),
                          fake_steps(1, tiles, [&](const auto&, auto) { meeting.arrive(); }));
  double in = 0, out = 0;
  const Operand operand(View<double>(&in, {}));
  executor.run(context, {{&operand, 1}, reinterpret_cast<std::byte*>(&out), {}, nullptr}, {});
  return meeting.threads();
}

TEST_CASE("context: fewer than one thread is refused") {
  Engine engine = Engine::make();
  for (const std::int32_t n : {0, -1, INT32_MIN})
    CHECK_THROWS_WITH_AS((void)ExecContext::max_threads(engine, n),
                         doctest::Contains(std::to_string(n).c_str()), Error);
}

TEST_CASE("context: max_threads is capped at the allowed parallelism") {
  Engine engine = Engine::make();
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 3);
  CHECK(ExecContext::max_threads(engine, 2).threads() == 2);
  CHECK(ExecContext::max_threads(engine, 1000).threads() == 3);
}

TEST_CASE("context: eight threads, all distinct, again and again") {
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 8);
  Engine engine = Engine::make();
  for (int round = 0; round < 3; ++round)
    CHECK(threads_that_meet(ExecContext::max_threads(engine, 8), 8, 8) == 8);
}

TEST_CASE("context: never more than n threads") {
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 8);
  Engine engine = Engine::make();
  CHECK(threads_that_meet(ExecContext::max_threads(engine, 3), 3, 200) == 3);
}

TEST_CASE("context: inside a task the caller's arena bounds the width") {
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 8);
  Engine engine = Engine::make();
  tbb::task_arena three(3);
  std::int32_t width = 0, ambient = 0;
  three.execute([&] {
    width = thread_width(ExecContext::max_threads(engine, 8));
    ambient = thread_width(ExecContext::ambient(engine));
  });
  CHECK(width == 3);
  CHECK(ambient == 3);
  tbb::task_arena one(1);
  one.execute([&] { width = thread_width(ExecContext::max_threads(engine, 8)); });
  CHECK(width == 1);
  CHECK(thread_width(ExecContext::max_threads(engine, 8)) == 8);
  CHECK(thread_width(ExecContext::serial(engine)) == 1);
}

TEST_CASE("context: serial makes no TBB call, and no other thread works") {
  Engine engine = Engine::make();
  const std::vector<double> a = numbers(256 * 256, 1), b = numbers(256 * 256, 2);
  std::thread fresh([&] {  // TBB knows a thread from its first call on
    const ExecContext context = ExecContext::serial(engine);
    timespec before{}, after{}, process_before{}, process_after{};
    (void)einsum(context, "ij,jk->ik", View<double>(a.data(), {256, 256}),
                 View<double>(b.data(), {256, 256}));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process_before);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    for (int i = 0; i < 20; ++i)
      (void)einsum(context, "ij,jk->ik", View<double>(a.data(), {256, 256}),
                   View<double>(b.data(), {256, 256}));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process_after);
    const auto seconds = [](const timespec& from, const timespec& to) {
      return static_cast<double>(to.tv_sec - from.tv_sec) +
             1e-9 * static_cast<double>(to.tv_nsec - from.tv_nsec);
    };
    const double own = seconds(before, after), all = seconds(process_before, process_after);
    CHECK(all - own < 0.1 * own + 0.002);
    CHECK(widths_asked == 0);
    (void)thread_width(ExecContext::ambient(engine));
    CHECK(widths_asked > 0);  // the counter sees what the library asks
    const bool unknown_to_tbb =
        tbb::this_task_arena::current_thread_index() == tbb::task_arena::not_initialized;
    CHECK(unknown_to_tbb);
  });
  fresh.join();
}

TEST_CASE("context: every tile of ours runs, though the caller's task group is cancelled") {
  Engine engine = Engine::make();
  std::atomic<int> ran = 0;
  const Executor executor(chain_plan(1, 1e6), fake_steps(1, 64, [&](const auto&, auto) { ++ran; }));
  double in = 0, out = 0;
  const Operand operand(View<double>(&in, {}));
  tbb::task_group_context group;
  tbb::parallel_for(
      0, 1,
      [&](int) {
        group.cancel_group_execution();
        for (const auto& context :
             {ExecContext::ambient(engine), ExecContext::max_threads(engine, 2)})
          executor.run(context, {{&operand, 1}, reinterpret_cast<std::byte*>(&out), {}, nullptr},
                       {});
      },
      group);
  CHECK(ran == 128);
}

TEST_CASE("context: each task has the caller's floating-point mode, and returns its own") {
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 8);
  Engine engine = Engine::make();
  const unsigned own = _mm_getcsr();
  for (const unsigned mode : {0x8040u /* FTZ + DAZ */, 0x4000u /* round up */}) {
    std::atomic<int> wrong = 0;
    Meeting meeting(4);
    const Executor executor(chain_plan(1, 1e6), fake_steps(1, 4, [&](const auto&, auto) {
                              meeting.arrive();
                              wrong += (_mm_getcsr() & 0xffc0u) != ((own | mode) & 0xffc0u);
                            }));
    double in = 0, out = 0;
    const Operand operand(View<double>(&in, {}));
    _mm_setcsr(own | mode);
    executor.run(ExecContext::max_threads(engine, 4),
                 {{&operand, 1}, reinterpret_cast<std::byte*>(&out), {}, nullptr}, {});
    const unsigned after = _mm_getcsr();
    _mm_setcsr(own);
    CHECK(wrong == 0);
    CHECK(meeting.threads() == 4);
    CHECK((after & 0xffc0u) == ((own | mode) & 0xffc0u));
  }
}

struct Case {
  const char* expression;
  Dims a, b;
};

TEST_CASE("context: the same bits at 1, 2, 3 and 8 threads, in every rounding mode") {
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 8);
  const Case cases[] = {{"ij,jk->ik", {130, 300}, {300, 170}},
                        {"bij,bjk->bik", {6, 40, 65}, {6, 65, 50}},
                        {"ij,kj->", {300, 200}, {40, 200}},
                        {"ijk,jil->kl", {20, 30, 90}, {30, 20, 80}},
                        {"i,j->ji", {500}, {600}}};
  const unsigned own = _mm_getcsr();
  for (const unsigned mode : {0u, 0x8040u, 0x4000u}) {
    for (const char* backend : {"jit", "auto"}) {
      Engine engine = Engine::make();
      EinsumOptions options;
      options.backend = backend;
      for (const Case& c : cases) {
        const auto size = [](const Dims& d) {
          std::size_t n = 1;
          for (const std::int64_t e : d) n *= static_cast<std::size_t>(e);
          return n;
        };
        const std::vector<double> a = numbers(size(c.a), 1), b = numbers(size(c.b), 2);
        const Operand operands[] = {View<double>(a.data(), c.a), View<double>(b.data(), c.b)};
        _mm_setcsr(own | mode);
        const Tensor serial = einsum(ExecContext::serial(engine), c.expression, operands, options);
        for (const std::int32_t n : {1, 2, 3, 8}) {
          const Tensor other =
              einsum(ExecContext::max_threads(engine, n), c.expression, operands, options);
          CHECK(std::memcmp(serial.bytes(), other.bytes(),
                            static_cast<std::size_t>(serial.size()) * sizeof(double)) == 0);
        }
        _mm_setcsr(own);
      }
    }
  }
}

}  // namespace
}  // namespace einjit
