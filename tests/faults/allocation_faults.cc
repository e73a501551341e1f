// Every allocation of every public path fails in turn: always Error{out_of_memory}, nothing lost.
//
// A scenario is one call. For n = 1, 2, 3, … its n-th allocation fails (alone, then with all that
// follow) until the call ends without meeting a fault. At each point: the error is einjit's, the
// heap holds what it held, no buffer is in flight, the destination's bits are the old ones, and the
// next call gives the right value. Compilation is left out: running out of memory inside LLVM is
// not survivable (CONTRACTS §6), nor is unloading code, so kernels stand in the Engine's table
// before a window opens. Open: explain_json and read_network. The destructor of nlohmann::json
// allocates and is noexcept, so that a fault in it ends the process.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "einjit/einjit.h"
#include "runtime/buffer_pool.h"
#include "runtime/network_file.h"
#include "runtime/npy.h"

namespace {

std::atomic<std::int64_t> live{0};                       // allocations of the whole process
thread_local std::int64_t until_fault = -1;              // −1: none is wanted
thread_local bool faults_stay = false, faulted = false;  // every later one fails too

bool fails_now() noexcept {
  if (until_fault < 0) return false;
  if (until_fault > 1) {
    --until_fault;
    return false;
  }
  faulted = true;
  until_fault = faults_stay ? 1 : -1;
  return true;
}

void* take(std::size_t bytes, std::size_t alignment) noexcept {
  if (fails_now()) return nullptr;
  void* const p =
      alignment <= alignof(std::max_align_t)
          ? std::malloc(std::max<std::size_t>(bytes, 1))
          : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p != nullptr) ++live;
  return p;
}
void* take_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const p = take(bytes, alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void give(void* p) noexcept {
  if (p == nullptr) return;
  --live;
  std::free(p);
}
constexpr std::size_t number(std::align_val_t a) { return static_cast<std::size_t>(a); }

}  // namespace

// Out of line, so that no compiler pairs a delete it sees with a new it does not.
#define OUT_OF_LINE [[gnu::noinline]]
using Align = std::align_val_t;
using Nothrow = std::nothrow_t;
OUT_OF_LINE void* operator new(std::size_t n) { return take_or_throw(n, 1); }
OUT_OF_LINE void* operator new[](std::size_t n) { return take_or_throw(n, 1); }
OUT_OF_LINE void* operator new(std::size_t n, Align a) { return take_or_throw(n, number(a)); }
OUT_OF_LINE void* operator new[](std::size_t n, Align a) { return take_or_throw(n, number(a)); }
OUT_OF_LINE void* operator new(std::size_t n, const Nothrow&) noexcept { return take(n, 1); }
OUT_OF_LINE void* operator new[](std::size_t n, const Nothrow&) noexcept { return take(n, 1); }
OUT_OF_LINE void* operator new(std::size_t n, Align a, const Nothrow&) noexcept {
  return take(n, number(a));
}
OUT_OF_LINE void* operator new[](std::size_t n, Align a, const Nothrow&) noexcept {
  return take(n, number(a));
}
OUT_OF_LINE void operator delete(void* p) noexcept { give(p); }
OUT_OF_LINE void operator delete[](void* p) noexcept { give(p); }
OUT_OF_LINE void operator delete(void* p, std::size_t) noexcept { give(p); }
OUT_OF_LINE void operator delete[](void* p, std::size_t) noexcept { give(p); }
OUT_OF_LINE void operator delete(void* p, Align) noexcept { give(p); }
OUT_OF_LINE void operator delete[](void* p, Align) noexcept { give(p); }
OUT_OF_LINE void operator delete(void* p, std::size_t, Align) noexcept { give(p); }
OUT_OF_LINE void operator delete[](void* p, std::size_t, Align) noexcept { give(p); }
OUT_OF_LINE void operator delete(void* p, const Nothrow&) noexcept { give(p); }
OUT_OF_LINE void operator delete[](void* p, const Nothrow&) noexcept { give(p); }
OUT_OF_LINE void operator delete(void* p, Align, const Nothrow&) noexcept { give(p); }
OUT_OF_LINE void operator delete[](void* p, Align, const Nothrow&) noexcept { give(p); }

namespace einjit {
namespace {

constexpr std::int64_t kMostPoints = 100000;  // a call that meets more faults never ends

struct Scenario {
  std::string name;
  std::function<void()> call;                             // what it makes is gone when it returns
  std::function<bool()> right = [] { return true; };      // after a call without faults
  std::function<void()> reset = [] {};                    // before each call: caches, destination
  std::function<bool()> untouched = [] { return true; };  // after a failed call
};

/// Empty where the n-th fault leaves everything as it should be. `met`: the call got that far.
std::string try_point(const Scenario& s, const Engine& engine, std::int64_t n, bool stays,
                      bool& met) {
  s.reset();
  const std::int64_t before = live;
  std::string wrong;
  bool thrown = false;
  faults_stay = stays;
  faulted = false;
  until_fault = n;
  try {
    s.call();
    until_fault = -1;
  } catch (const Error& e) {
    until_fault = -1;
    thrown = true;
    if (e.code() != ErrorCode::out_of_memory)
      wrong = "the error is " + std::string(name(e.code())) + ": " + e.what();
  } catch (const std::bad_alloc&) {
    until_fault = -1;
    thrown = true;
    wrong = "std::bad_alloc came out";
  } catch (const std::exception& e) {
    until_fault = -1;
    thrown = true;
    wrong = std::string("an exception that is no einjit::Error: ") + e.what();
  }
  met = faulted;
  if (!wrong.empty()) return wrong;
  if (thrown && !met) return "an error without a fault";
  if (thrown && !s.untouched()) return "the failed call wrote";
  if (!thrown && !s.right()) return "a wrong value after a fault that was survived";
  if (engine.statistics().pool_in_flight != 0) return "a buffer is still in flight";
  s.reset();
  if (live != before)
    return std::to_string(live - before) + " allocations more than before the call";
  try {
    s.call();
  } catch (const std::exception& e) {
    return std::string("the next call failed: ") + e.what();
  }
  if (!s.right()) return "the next call gave a wrong value";
  return {};
}

bool passes(const Scenario& s, const Engine& engine) {
  try {
    for (int warm = 0; warm < 2; ++warm) {  // containers reach their size, files are opened once
      s.reset();
      s.call();
      if (!s.right()) throw std::runtime_error("a wrong value without a fault");
    }
  } catch (const std::exception& e) {
    std::printf("FAILED %s: without a fault: %s\n", s.name.c_str(), e.what());
    return false;
  }
  std::int64_t points = 0, failures = 0;
  for (const bool stays : {false, true}) {
    bool met = true;
    for (std::int64_t n = 1; met && n < kMostPoints; ++n) {
      const std::string wrong = try_point(s, engine, n, stays, met);
      points += met;
      if (wrong.empty()) continue;
      if (++failures <= 3)
        std::printf("FAILED %s: allocation %lld%s: %s\n", s.name.c_str(), static_cast<long long>(n),
                    stays ? " and all after it" : "", wrong.c_str());
    }
    if (met) std::printf("FAILED %s: never ends\n", s.name.c_str());
    failures += met;
  }
  std::printf("%-6s %-52s %6lld points\n", failures == 0 ? "ok" : "FAILED", s.name.c_str(),
              static_cast<long long>(points));
  std::fflush(stdout);
  return failures == 0;
}

/// Operands of small integers, and a destination that begins as a pattern.
template <Element T, Element D>
struct Buffers {
  std::vector<std::vector<T>> values;
  std::vector<Operand> operands;
  std::vector<Layout> layouts;
  std::vector<D> out, pattern, wanted;

  Buffers(const std::vector<std::vector<std::int64_t>>& shapes, std::size_t out_size)
      : out(out_size), pattern(out_size, D(-77)), wanted(out_size) {
    for (const auto& shape : shapes) {
      std::int64_t size = 1;
      for (const std::int64_t e : shape) size *= e;
      std::vector<T>& v = values.emplace_back(static_cast<std::size_t>(size));
      for (std::size_t i = 0; i < v.size(); ++i)
        v[i] = T(static_cast<int>((3 * i + values.size()) % 5) - 2);
    }
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      operands.emplace_back(View<T>(values[i].data(), Dims(shapes[i])));
      layouts.push_back(layout_of(operands.back()));
    }
  }
  bool is_pattern() const {
    return std::memcmp(out.data(), pattern.data(), out.size() * sizeof(D)) == 0;
  }
  void spoil() { out = pattern; }
};

using Shapes = std::vector<std::vector<std::int64_t>>;
const Shapes kChain = {{6, 7}, {7, 8}, {8, 5}, {5, 9}};
constexpr const char* kChainText = "ab,bc,cd,de->ae";

EinsumOptions with_backend(const std::string& backend) {
  EinsumOptions options;
  options.backend = backend;
  return options;
}

class Suite {
 public:
  Suite() : engine_(Engine::make()), context_(ExecContext::serial(engine_)) {}

  int run() {
    expressions();
    plans();
    for (const char* backend : {"reference", "blas", "jit", "auto"}) calls(backend);
    temporaries();
    storage();
    files();
    std::printf("%d passed, %d failed\n", passed_, failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  void add(const Scenario& s) { passes(s, engine_) ? ++passed_ : ++failed_; }

  void expressions() {
    add({"parse letters", [] { (void)parse("abc,bcd,...d->a...c"); }});
    add({"parse a nesting", [] { (void)parse("(ab,bc),(cd,de)->ae"); }});
    add({"parse numbers", [] { (void)parse_text("[100 2],[2 300]->[100 300]"); }});
    const Expression expression = parse("ab,bc,cd,de->ae");
    std::vector<std::span<const std::int64_t>> shapes(kChain.begin(), kChain.end());
    add({"resolve", [&] { (void)resolve(expression, shapes); }});
    const Network network = network_of(resolve(expression, shapes));
    add({"network and costs", [&] {
           const Contraction c = resolve(expression, shapes);
           (void)cost_of(network_of(c), find_tree(c, "greedy", {}));
         }});
    for (const PathFinder* finder : path_finders()) {
      if (!finder->accepts(network)) continue;
      const std::string finder_name(finder->name);
      add({"find_tree " + finder_name,
           [&, finder_name] { (void)find_tree(resolve(expression, shapes), finder_name, {}); }});
    }
    const LinearPath path = {{0, 1}, {0, 1}, {0, 1}};
    add({"paths as trees and text", [&] {
           const ContractionTree tree = tree_from_linear(path, 4);
           (void)linear_path(tree);
           (void)tree_from_ssa(ssa_path(tree), 4);
           (void)parse_tree(to_text(tree));
         }});
  }

  void plans() {
    const Buffers<double, double> b(kChain, 54);
    const auto planned = [&](const char* what, const EinsumOptions& options) {
      add({std::string("plan, ") + what,
           [&] { (void)plan(context_, kChainText, b.layouts, {}, {}, options); }});
    };
    EinsumOptions options;
    planned("auto", options);
    options.finder = "greedy";
    planned("greedy", options);
    options.finder = "optimal";
    planned("optimal", options);
    options.path = LinearPath{{0, 3}, {0, 1}, {0, 1}};
    planned("the user's path", options);
    options = {};
    options.memory_limit_bytes = 1 << 20;
    planned("a memory limit", options);
    const Plan made = plan(context_, kChainText, b.layouts);
    add({"plan as text", [&] { (void)parse_plan(to_text(made)); }});
    add({"explain", [&] { (void)explain(made); }});
  }

  /// Plans made and found, by one backend. A prepared plan that stays keeps the kernels compiled.
  void calls(const std::string& backend) {
    const EinsumOptions options = with_backend(backend);
    Buffers<double, double> b(kChain, 54);
    const std::optional<Layout> out = dense_layout(DType::f64, Dims{6, 9});
    const PreparedPlan keeper = prepare(context_, kChainText, b.layouts, out, {}, options);
    const Tensor wanted =
        einsum(context_, kChainText, Operands(b.operands), with_backend("reference"));
    std::copy(wanted.values<double>().begin(), wanted.values<double>().end(), b.wanted.begin());
    const UninitView<double> uninit(b.out.data(), Dims{6, 9});
    const Destination into(uninit);
    const auto cold = [&] {
      engine_.clear();
      b.spoil();
    };
    const auto found = [&] { return b.out == b.wanted; };
    const auto untouched = [&] { return b.is_pattern(); };
    const auto all = Operands(b.operands);
    add({backend + ": prepare, miss",
         [&] { (void)prepare(context_, kChainText, b.layouts, out, {}, options); },
         [] { return true; }, cold});
    add({backend + ": einsum_into an UninitView, miss",
         [&] { einsum_into(context_, kChainText, into, all, {}, options); }, found, cold,
         untouched});
    bool same = false;
    const auto einsum_call = [&] {
      same = false;
      const Tensor t = einsum(context_, kChainText, all, options);
      same = std::ranges::equal(t.values<double>(), b.wanted);
    };
    add({backend + ": einsum, miss", einsum_call, [&] { return same; }, cold});
    const auto warm = [&] {
      engine_.clear();
      b.spoil();
      (void)prepare(context_, kChainText, b.layouts, out, {}, options);
    };
    add({backend + ": prepare, hit",
         [&] { (void)prepare(context_, kChainText, b.layouts, out, {}, options); },
         [] { return true; }, warm});
    add({backend + ": einsum_into an UninitView, hit",
         [&] { einsum_into(context_, kChainText, into, all, {}, options); }, found, warm,
         untouched});
    add({backend + ": einsum, hit", einsum_call, [&] { return same; }, warm});
    add({backend + ": run", [&] { keeper.run(context_, all, into); }, found, cold, untouched});
    add({backend + ": bind, call", [&] { keeper.bind(context_, all, into)(); }, found, cold,
         untouched});
    add({backend + ": explain, trace", [&] {
           (void)keeper.explain();
           (void)keeper.trace();
         }});
  }

  /// A destination that no kernel can write at once, of a wider type, of many axes.
  template <Element T, Element D>
  void temporary(const std::string& what, const std::string& text, const Shapes& shapes,
                 const Dims& extents, const Dims& strides, std::size_t out_size,
                 const EinsumOptions& options, Scalars scalars, bool initialized) {
    Buffers<T, D> b(shapes, out_size);
    const Destination into = initialized
                                 ? Destination(MutableView<D>(b.out.data(), extents, strides))
                                 : Destination(UninitView<D>(b.out.data(), extents, strides));
    Layout out{
        dtype_of<D>, {extents.begin(), extents.end()}, {strides.begin(), strides.end()}, false};
    const PreparedPlan keeper = prepare(context_, text, b.layouts, out, scalars, options);
    const auto cold = [&] {
      engine_.clear();
      b.spoil();
    };
    cold();
    einsum_into(context_, text, into, Operands(b.operands), scalars, with_backend("reference"));
    b.wanted = b.out;
    add({what, [&] { einsum_into(context_, text, into, Operands(b.operands), scalars, options); },
         [&] { return b.out == b.wanted; }, cold, [&] { return b.is_pattern(); }});
  }

  void temporaries() {
    for (const char* backend : {"reference", "blas", "jit"}) {
      const EinsumOptions o = with_backend(backend);
      const std::string head = std::string(backend) + ": ";
      temporary<float, double>(head + "into a wider type", "ab,bc->ac", {{6, 7}, {7, 5}}, {6, 5},
                               {5, 1}, 30, o, {}, false);
      temporary<double, double>(head + "into strides that do not fuse", "abx,xcd->abcd",
                                {{2, 3, 7}, {7, 4, 5}}, {2, 3, 4, 5}, {4, 160, 40, 8}, 512, o, {},
                                false);
      temporary<double, double>(head + "a diagonal is written", "ab,bc->aac", {{6, 7}, {7, 5}},
                                {6, 6, 5}, {30, 5, 1}, 180, o, {}, false);
      temporary<c64, c128>(head + "alpha and beta", "ab,bc,cd->ad", {{6, 7}, {7, 5}, {5, 4}},
                           {6, 4}, {4, 1}, 24, o, {{2, 0}, {3, 0}}, true);
      temporary<double, double>(
          head + "ten axes", "abcdefghij,jk->abcdefghik", {{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, {2, 3}},
          {1, 2, 1, 2, 1, 2, 1, 2, 1, 3}, {48, 24, 24, 12, 12, 6, 6, 3, 3, 1}, 48, o, {}, false);
    }
    EinsumOptions limited = with_backend("reference");
    limited.memory_limit_bytes = 1 << 16;
    temporary<double, double>("a plan under a memory limit", kChainText, kChain, {6, 9}, {9, 1}, 54,
                              limited, {}, false);
  }

  void storage() {
    add({"Engine::make", [] { (void)Engine::make(); }});
    add({"Engine::clear", [&] { engine_.clear(); }, [] { return true; },
         [&] {
           engine_.clear();
           Buffers<double, double> b(kChain, 54);
           (void)prepare(context_, kChainText, b.layouts, {}, {}, with_backend("reference"));
         }});
    add({"Tensor::zeros", [] { (void)Tensor::zeros(DType::f64, {3, 4}); }});
    const std::vector<float> ones(12, 1.0F);
    add({"Tensor::of", [&] { (void)Tensor::of<float>({3, 4}, ones); }});
    BufferPool pool(1 << 20);
    add({"pool acquire", [&] { (void)pool.acquire(1 << 12); },
         [&] { return pool.statistics().in_flight == 0; }});
  }

  void files() {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("einjit_faults_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    const std::string npy = folder / "a.npy";
    const auto entries = [&] {
      return std::distance(std::filesystem::directory_iterator(folder), {});
    };
    Buffers<double, double> b({{6, 7}}, 1);
    write_npy(npy, b.operands[0]);
    add({"read_npy", [&] { (void)read_npy(npy); }});
    const std::string stray = folder / "b.npy";
    add({"write_npy", [&] { write_npy(stray, b.operands[0], NpyOrder::fortran); },
         [&] { return std::filesystem::file_size(stray) == std::filesystem::file_size(npy); },
         [&] { std::filesystem::remove(stray); }, [&] { return entries() == 1; }});
    std::filesystem::remove(stray);
    add({"random_operand", [extents = std::vector<std::int64_t>{3, 4}] {
           (void)random_operand(DType::c64, extents, 7);
         }});
    std::filesystem::remove_all(folder);
  }

  Engine engine_;
  ExecContext context_;
  int passed_ = 0, failed_ = 0;
};

}  // namespace
}  // namespace einjit

int main() {
  try {
    return einjit::Suite().run();
  } catch (const std::exception& e) {
    std::printf("FAILED outside a scenario: %s\n", e.what());
    return 1;
  }
}
