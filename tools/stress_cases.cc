// The table of stress cases, and those about the cache, code memory and failures.
#include "tools/stress_cases.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "tools/product.h"

namespace einjit {
namespace {

constexpr StressCase kStressCases[] = {
    {"C286", nullptr, "no hook of the public API forces two keys to one hash"},
    {"C287", &cache_evicts, ""},
    {"C288", &alignment_is_free, ""},
    {"C290", &threads_agree, ""},
    {"C292", &long_call_beside_short_ones, ""},
    {"C295", &waiting_never_steals, ""},
    {"C296", &two_arenas, ""},
    {"C297", &tiny_work_stays_serial, ""},
    {"C300", &forks_while_computing, ""},
    {"C302", &exits_cleanly, ""},
    {"C303", &kernels_come_and_go, ""},
    {"C305", &compiles_beside_runs, ""},
    {"C307", &compiles_beside_large_heap, "touches 6 GB; run with --full", true},
    {"C308", &failure_then_success, ""},
};

/// A field of /proc/self/status, in bytes.
double status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field + ":")) return std::stod(line.substr(field.size() + 1)) * 1024;
  return 0;
}

std::int64_t mapping_count() {
  std::ifstream maps("/proc/self/maps");
  std::int64_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

std::string megabytes(double bytes) { return std::to_string(std::llround(bytes / 1e6)) + " MB"; }

EinsumOptions on(const char* backend) {
  EinsumOptions options;
  options.backend = backend;
  return options;
}

/// Expressions whose kernels differ, numbered without end: batch, dot, transposed and copying forms
/// in turn; `clear` makes even equal ones compile again.
void run_some_kernel(const ExecContext& context, std::int64_t number) {
  constexpr const char* kForms[] = {"ij,jk->ik", "ij,kj->ik", "ji,jk->ik", "ij,ij->ij",
                                    "ij,ij->i",  "ij->ji",    "ij,ij->",   "i j,j->i",
                                    "ij->i",     "ij,ij->ji"};
  const Product p(4, 4, 4, number);
  const View<double> a = p.a(), b = p.b();
  const std::string form = kForms[number % 10];
  const std::vector<double> vector{1, 2, 3, 4};
  if (form == "ij->ji" || form == "ij->i")
    (void)einsum(context, form, {Operand(a)}, on("jit"));
  else if (form == "i j,j->i")
    (void)einsum(context, form, {Operand(a), Operand(View<double>(vector.data(), {4}))}, on("jit"));
  else
    (void)einsum(context, form, {Operand(a), Operand(b)}, on("jit"));
}

}  // namespace

std::span<const StressCase> stress_cases() { return kStressCases; }

StressResult cache_evicts(const StressOptions& options) {
  EngineOptions small;
  small.cache.entries = 64;
  Engine engine = Engine::make(small);
  const ExecContext context = ExecContext::serial(engine);
  const std::int64_t count = options.full ? 10000 : 300;
  const Product held(20, 30, 40, 5);
  const Layout layouts[] = {layout_of(held.a()), layout_of(held.b())};
  const PreparedPlan kept = prepare(context, "ij,jk->ik", layouts);
  std::atomic<bool> done = false;
  FirstWrong wrong;
  std::thread runner([&] {  // an evicted plan that still runs
    wrong.guard([&] {
      const std::vector<double> right = held.by_loops();
      while (!done) {
        std::vector<double> c(right.size());
        kept.run(context, {Operand(held.a()), Operand(held.b())},
                 MutableView<double>(c.data(), {20, 40}));
        if (!same_bits(c, right))
          wrong.report("an evicted plan that still ran gave a wrong result");
      }
    });
  });
  double settled = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Product p(1 + i % 25, 1 + i / 25 % 20, 1 + i / 500, i);
    if (p.run(context) != p.by_loops())
      wrong.report("shape number " + std::to_string(i) + " gave a wrong result");
    if (i == count / 4) settled = status_bytes("VmRSS");
    if (i % 100 == 99) engine.clear();
  }
  done = true;
  runner.join();
  const EngineStatistics s = engine.statistics();
  const double growth = status_bytes("VmRSS") - settled;
  if (s.cache.entries > 64)
    wrong.report("expected at most 64 plans, found " + std::to_string(s.cache.entries));
  if (s.cache.lookups < count)
    wrong.report(std::to_string(s.cache.lookups) + " lookups for " + std::to_string(count) +
                 " calls");
  if (growth > 64e6) wrong.report("memory grew by " + megabytes(growth));
  return {wrong.sentence(), {}};
}

StressResult alignment_is_free(const StressOptions&) {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  const Product p(17, 23, 19, 3);
  const std::vector<double> right = p.by_loops();
  for (const char* backend : {"jit", "auto"})
    for (const std::size_t shift : {0, 1, 3, 7}) {
      std::vector<double> a(17 * 23 + 16), b(23 * 19 + 16), c(17 * 19 + 16);
      const auto aligned = [&](std::vector<double>& v) {
        const auto address = reinterpret_cast<std::uintptr_t>(v.data());
        return v.data() + (64 - address % 64) % 64 / 8 + shift;
      };
      std::copy_n(p.a().data(), 17 * 23, aligned(a));
      std::copy_n(p.b().data(), 23 * 19, aligned(b));
      einsum_into(context, "ij,jk->ik", MutableView<double>(aligned(c), {17, 19}),
                  {Operand(View<double>(aligned(a), {17, 23})),
                   Operand(View<double>(aligned(b), {23, 19}))},
                  {}, on(backend));
      if (!std::equal(right.begin(), right.end(), aligned(c)))
        return {std::string(backend) + ", buffers 64-byte aligned + " + std::to_string(8 * shift) +
                    " bytes: a wrong result",
                {}};
    }
  return {};
}

StressResult kernels_come_and_go(const StressOptions& options) {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  const std::int64_t count = options.full ? 10000 : 400;
  std::int64_t warm_maps = 0;
  double warm_bytes = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    run_some_kernel(context, i);
    if (i % 10 == 9) engine.clear();
    if (i == count / 4) {
      warm_bytes = status_bytes("VmRSS");
      warm_maps = mapping_count();
    }
  }
  engine.clear();
  const double growth = status_bytes("VmRSS") - warm_bytes;
  const std::int64_t maps = mapping_count() - warm_maps;
  const EngineStatistics s = engine.statistics();
  std::string wrong;
  if (growth > 20e6)
    wrong = "memory grew by " + megabytes(growth) + ", at most 20 MB were expected";
  if (maps > 40) wrong = "mappings grew by " + std::to_string(maps);
  if (s.kernels_held != 0)
    wrong = std::to_string(s.kernels_held) + " kernels are held after clear()";
  return {wrong, std::to_string(s.kernels_compiled) +
                     " kernels compiled and dropped, memory grew by " + megabytes(growth)};
}

StressResult compiles_beside_large_heap(const StressOptions&) {
  if (status_bytes("VmRSS") == 0) return {};
  std::vector<std::vector<char>> blocks;
  FirstWrong wrong;
  std::thread eater([&] {
    wrong.guard([&] {
      for (int i = 0; i < 96; ++i) blocks.emplace_back(std::size_t{1} << 26, static_cast<char>(i));
    });
  });
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  wrong.guard([&] {
    for (std::int64_t i = 0; i < 400; ++i) {
      run_some_kernel(context, i);
      if (i % 10 == 9) engine.clear();
    }
  });
  eater.join();
  return {wrong.sentence(), {}};
}

StressResult failure_then_success(const StressOptions&) {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::max_threads(engine, 2);
  const Product p(45, 33, 37, 1);
  const std::vector<double> right = p.by_loops();
  if (p.run(context, on("jit")) != right) return {"the first call gave a wrong result", {}};
  const double one = 1;
  const std::int64_t huge = std::int64_t{1} << 22;  // 2^44 elements: 128 TiB
  const Operand wide(View<double>(&one, {huge}, {0}));
  try {
    (void)einsum(context, "a,b->ab", {wide, wide}, on("jit"));
    return {"a result of 2^44 elements was allocated", {}};
  } catch (const Error& e) {
    if (e.code() != ErrorCode::out_of_memory)
      return {"expected out_of_memory, found " + std::string(name(e.code())) + ": " + e.what(), {}};
  }
  if (p.run(context, on("jit")) != right) return {"the call after a failed one is wrong", {}};
  return {};
}

}  // namespace einjit
