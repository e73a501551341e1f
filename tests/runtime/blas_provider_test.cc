// Registered gemms: both widths of integers, what stands in for gemv and dot, what the self-test
// refuses, who may fill uninitialized storage, and what old plans keep.
#include "einjit/blas_provider.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "einjit/einsum.h"
#include "runtime/blas_library.h"
#include "tests/refused.h"
#include "tests/runtime/plain_gemm.h"

namespace einjit {
namespace {

using testing::GemmFault;
using testing::plain_gemm;

template <class Integer>
BlasProvider provider(const char* name) {
  BlasProvider p;
  p.name = name;
  p.sgemm = &plain_gemm<float, Integer>;
  p.dgemm = &plain_gemm<double, Integer>;
  p.cgemm = &plain_gemm<c64, Integer>;
  p.zgemm = &plain_gemm<c128, Integer>;
  p.integer_bits = 8 * sizeof(Integer);
  p.ignores_old_content = p.thread_safe = true;
  p.flops_per_second = 1e15;
  return p;
}

/// dgemms that count their calls, to tell one provider from another.
std::atomic<int> calls[2];
template <int which>
void counting_dgemm(const char* trans_a, const char* trans_b, const int* m, const int* n,
                    const int* k, const double* alpha, const double* a, const int* lda,
                    const double* b, const int* ldb, const double* beta, double* c,
                    const int* ldc) {
  ++calls[which];
  plain_gemm(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
template <int which>
BlasProvider counting(bool ignores_old_content = true) {
  BlasProvider p;
  p.name = "counting";
  p.dgemm = &counting_dgemm<which>;
  p.ignores_old_content = ignores_old_content;
  p.flops_per_second = 1e15;
  return p;
}

/// An Engine for this machine that knows of no BLAS.
struct Bare {
  Engine engine = Engine::make([] {
    EngineOptions options;
    options.machine = Engine::make().machine();
    options.machine->blas_available = false;
    return options;
  }());
  ExecContext context = ExecContext::serial(engine);

  std::string_view backend_of(const char* expression, std::vector<Layout> operands,
                              const char* backend) {
    EinsumOptions options;
    options.backend = backend;
    return prepare(context, expression, operands, {}, {}, options).trace().front().backend;
  }
};

template <class T>
std::vector<T> integers(std::size_t n, int seed) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const int v = static_cast<int>(i) * 7 + seed * 13;
    if constexpr (is_complex(dtype_of<T>))
      values[i] = T(static_cast<typename T::value_type>(v % 9 - 4),
                    static_cast<typename T::value_type>(v % 5 - 2));
    else
      values[i] = static_cast<T>(v % 9 - 4);
  }
  return values;
}

/// By "blas!" and by "reference" into every second element, gaps and all.
template <class T>
void compare(Bare& bare, const char* expression, std::vector<Dims> shapes, Dims shape, Dims strides,
             bool conj, Scalars scalars) {
  std::vector<std::vector<T>> values;
  std::vector<Operand> operands;
  for (const Dims& s : shapes) {
    values.push_back(integers<T>(500, static_cast<int>(values.size()) + 1));
    const View<T> view(values.back().data(), s);
    operands.push_back(conj ? view.conj() : view);
  }
  std::vector<std::vector<T>> results;
  for (const char* backend : {"blas!", "reference"}) {
    EinsumOptions options;
    options.backend = backend;
    results.push_back(integers<T>(500, 9));
    einsum_into(bare.context, expression,
                Destination(MutableView<T>(results.back().data(), shape, strides)), operands,
                scalars, options);
  }
  CHECK(results[0] == results[1]);
}

template <class T>
void compare_all(Bare& bare) {
  const bool complex = is_complex(dtype_of<T>);
  for (const Scalars scalars : {Scalars{}, Scalars{{2, complex ? 1.0 : 0.0}, {-1, 0}}}) {
    compare<T>(bare, "ik,kj->ij", {{4, 5}, {5, 3}}, {4, 3}, {7, 1}, false, scalars);
    compare<T>(bare, "ki,jk->ji", {{5, 4}, {3, 5}}, {3, 4}, {4, 1}, false, scalars);
    compare<T>(bare, "bik,bkj->bij", {{2, 4, 5}, {2, 5, 3}}, {2, 4, 3}, {30, 7, 1}, false, scalars);
    if (complex) compare<T>(bare, "ki,jk->ij", {{5, 4}, {3, 5}}, {4, 3}, {3, 1}, true, scalars);
    for (const std::int64_t stride : {1, 2}) {  // gemv into a column, and into a row
      compare<T>(bare, "ik,k->i", {{4, 5}, {5}}, {4}, {stride}, false, scalars);
      compare<T>(bare, "ki,k->i", {{5, 4}, {5}}, {4}, {stride}, false, scalars);
      compare<T>(bare, "k,ik->i", {{5}, {4, 5}}, {4}, {stride}, false, scalars);
    }
    if (!complex) compare<T>(bare, "k,k->", {{5}, {5}}, {}, {}, false, scalars);
  }
}

TEST_CASE("blas provider: LP64 and ILP64 gemms run gemm, gemv and dot in every type") {
  for (const BlasProvider& p : {provider<std::int32_t>("plain"), provider<std::int64_t>("wide")}) {
    Bare bare;
    bare.engine.register_blas(p);
    compare_all<float>(bare);
    compare_all<double>(bare);
    compare_all<c64>(bare);
    compare_all<c128>(bare);
  }
}

TEST_CASE("blas provider: the machine knows of it, so that the planner chooses it") {
  Bare bare;
  const Machine& before = bare.engine.machine();
  const std::vector<Layout> matrices(2, dense_layout(DType::f64, {8, 8}));
  CHECK(bare.backend_of("ij,jk->ik", matrices, "auto") == "jit");
  bare.engine.register_blas(provider<int>("plain"));
  CHECK_FALSE(before.blas_available);  // the value that was read stays what it was
  CHECK(bare.engine.machine().blas_available);
  CHECK(has(bare.engine.machine().blas_name, "plain"));
  CHECK(bare.engine.machine().blas_flops_per_second == 1e15);
  const std::vector<Layout> large(2, dense_layout(DType::f64, {64, 64}));
  CHECK(bare.backend_of("ij,jk->ik", large, "auto") == "blas");
}

TEST_CASE("blas provider: a type without a gemm falls back, or is unsupported where forced") {
  Bare bare;
  bare.engine.register_blas(counting<0>());
  const std::vector<Layout> f32(2, dense_layout(DType::f32, {8, 8}));
  CHECK(bare.backend_of("ij,jk->ik", f32, "blas") == "jit");
  const std::string r = refused([&] { (void)bare.backend_of("ij,jk->ik", f32, "blas!"); });
  CHECK(has(r, "unsupported"));
  CHECK(has(r, "'counting' has no sgemm"));
  CHECK(bare.backend_of("ij,jk->ik", {2, dense_layout(DType::f64, {8, 8})}, "blas!") == "blas");
  // conj(A)·x into a strided y is no gemm: zgemm alone does not make it one.
  bare.engine.register_blas(provider<int>("plain"));
  Layout matrix = dense_layout(DType::c128, {5, 4});
  matrix.conj = true;
  const Layout in[] = {matrix, dense_layout(DType::c128, {5})};
  EinsumOptions options;
  options.backend = "blas";
  const PreparedPlan plan =
      prepare(bare.context, "ki,k->i", in, Layout{DType::c128, {4}, {2}, false}, {}, options);
  CHECK((plan.trace().front().backend == "jit" || !plan.plan().steps.front().blas));
}

template <GemmFault fault>
void check_refused(Bare& bare) {
  BlasProvider bad = provider<int>("bad");
  bad.dgemm = &plain_gemm<double, int, fault>;
  const std::string before = to_text(bare.engine.machine());
  const std::string r = refused([&] { bare.engine.register_blas(bad); });
  CHECK(has(r, "backend_failure: the BLAS 'bad' cannot be used: dgemm of m = 5, n = 3, k = 7"));
  CHECK(to_text(bare.engine.machine()) == before);
  BlasProvider wide = provider<std::int64_t>("bad");
  wide.zgemm = &plain_gemm<c128, std::int64_t, fault>;
  CHECK(has(refused([&] { bare.engine.register_blas(wide); }), "zgemm"));
}

TEST_CASE("blas provider: what reads C, leaves a hole, writes a gap or swaps sizes is refused") {
  Bare bare;
  const std::vector<double> a = integers<double>(16, 1), b = integers<double>(16, 2);
  const auto runs = [&] {
    EinsumOptions options;
    options.backend = "blas!";
    const int before = calls[0];
    const Operand both[] = {View<double>(a.data(), {4, 4}), View<double>(b.data(), {4, 4})};
    (void)einsum(bare.context, "ij,jk->ik", Operands(both), options);
    return calls[0] - before;
  };
  check_refused<GemmFault::reads_c>(bare);
  bare.engine.register_blas(counting<0>());
  check_refused<GemmFault::reads_c>(bare);
  check_refused<GemmFault::leaves_row>(bare);
  check_refused<GemmFault::writes_gap>(bare);
  check_refused<GemmFault::swaps_m_and_n>(bare);
  CHECK(runs() == 1);  // the old one stays
}

TEST_CASE("blas provider: without its promise it fills no storage that has no value yet") {
  Bare bare;
  bare.engine.register_blas(counting<0>(false));
  const std::vector<double> a = integers<double>(16, 1), b = integers<double>(16, 2);
  std::vector<double> c(16, std::numeric_limits<double>::quiet_NaN());
  const View<double> x(a.data(), {4, 4}), y(b.data(), {4, 4});
  const UninitView<double> raw(c.data(), {4, 4});
  const MutableView<double> old(c.data(), {4, 4});
  EinsumOptions forced, preferred;
  forced.backend = "blas!";
  preferred.backend = "blas";
  CHECK(has(
      refused([&] { (void)einsum_into(bare.context, "ij,jk->ik", raw, {x, y}, {1, 0}, forced); }),
      "unsupported"));
  CHECK(has(refused([&] {
              const Operand both[] = {x, y};
              (void)einsum(bare.context, "ij,jk->ik", Operands(both), forced);
            }),
            "unsupported"));
  for (const double v : c) CHECK(std::isnan(v));  // refused calls write nothing
  int before = calls[0];
  (void)einsum_into(bare.context, "ij,jk->ik", raw, {x, y}, {1, 0}, preferred);
  CHECK(calls[0] == before);  // the jit's
  const std::vector<double> right = c;
  c.assign(16, 7);
  einsum_into(bare.context, "ij,jk->ik", old, {x, y}, {}, forced);
  CHECK(calls[0] == before + 1);
  CHECK(c == right);
  before = calls[0];  // what adds reads old content by its nature
  einsum_into(bare.context, "ij,jk->ik", old, {x, y}, {{1, 0}, {1, 0}}, preferred);
  CHECK(calls[0] == before + 1);
  CHECK(c[5] == 2 * right[5]);
  // An intermediate never has a value before its step.
  CHECK(has(refused([&] { einsum_into(bare.context, "ij,jk,kl->il", old, {x, y, x}, {}, forced); }),
            "unsupported"));
  EinsumOptions order = preferred;
  const Layout three[] = {layout_of(x), layout_of(y), layout_of(x)};
  const PreparedPlan plan = prepare(bare.context, "ij,jk,kl->il", three, {}, {}, order);
  for (const TraceStep& step : plan.trace()) CHECK(step.backend == "jit");
}

TEST_CASE("blas provider: plans keep the provider they were prepared with") {
  Bare bare;
  const std::vector<double> a = integers<double>(16, 1);
  std::vector<double> c(16);
  const View<double> x(a.data(), {4, 4});
  const std::vector<Layout> layouts(2, layout_of(x));
  const MutableView<double> out(c.data(), {4, 4});
  EinsumOptions options;
  options.backend = "blas!";
  const auto prepared = [&] {
    return prepare(bare.context, "ij,jk->ik", layouts, {}, {}, options);
  };
  bare.engine.register_blas(counting<0>());
  const PreparedPlan first = prepared();
  bare.engine.register_blas(counting<1>());  // of the same name
  const PreparedPlan second = prepared();
  const int before[] = {calls[0], calls[1]};
  first.run(bare.context, {x, x}, out);
  CHECK(calls[0] == before[0] + 1);
  CHECK(calls[1] == before[1]);
  second.run(bare.context, {x, x}, out);
  CHECK(calls[0] == before[0] + 1);
  CHECK(calls[1] == before[1] + 1);
  bare.engine.clear();
  first.run(bare.context, {x, x}, out);
  CHECK(calls[0] == before[0] + 2);
}

std::atomic<int> inside{0}, most_inside{0};
void crowded_dgemm(const char* trans_a, const char* trans_b, const int* m, const int* n,
                   const int* k, const double* alpha, const double* a, const int* lda,
                   const double* b, const int* ldb, const double* beta, double* c, const int* ldc) {
  const int now = ++inside;
  int most = most_inside;
  while (now > most && !most_inside.compare_exchange_weak(most, now)) {
  }
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  plain_gemm(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  --inside;
}

TEST_CASE("blas provider: one that is not safe from several threads is called by one at a time") {
  Bare bare;
  BlasProvider p;
  p.name = "crowded";
  p.dgemm = &crowded_dgemm;
  p.ignores_old_content = true;
  bare.engine.register_blas(p);
  const std::vector<double> a = integers<double>(16, 1);
  const View<double> x(a.data(), {4, 4});
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      EinsumOptions options;
      options.backend = "blas!";
      for (int n = 0; n < 50; ++n) (void)einsum(bare.context, "ij,jk->ik", {x, x}, options);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(most_inside == 1);
}

TEST_CASE("blas provider: settings that make no sense are refused") {
  Bare bare;
  const auto with = [&](auto&& change) {
    BlasProvider p = provider<int>("plain");
    change(p);
    return refused([&] { bare.engine.register_blas(p); });
  };
  CHECK(with([](BlasProvider&) {}) == "not refused");
  CHECK(has(with([](BlasProvider& p) { p.name.clear(); }), "invalid_argument"));
  CHECK(has(with([](BlasProvider& p) { p.name = "a\nb"; }), "invalid_argument"));
  CHECK(has(with([](BlasProvider& p) { p.integer_bits = 16; }), "invalid_argument"));
  CHECK(has(with([](BlasProvider& p) { p.flops_per_second = -1; }), "invalid_argument"));
  CHECK(has(with([](BlasProvider& p) { p.sgemm = p.dgemm = p.cgemm = p.zgemm = nullptr; }),
            "invalid_argument"));
  EngineOptions options;
  options.blas_integer_bits = 16;
  CHECK(has(refused([&] { (void)Engine::make(options); }), "invalid_argument"));
}

TEST_CASE("blas provider: a shared library with other names and 64-bit integers") {
  EngineOptions options;
  options.blas_path = EINJIT_ILP64_BLAS;
  options.blas_symbol_suffix = "64_";
  options.blas_integer_bits = 64;
  Bare bare;
  bare.engine = Engine::make(options);
  compare_all<double>(bare);
  compare_all<c64>(bare);
  const std::string r = refused([&] { (void)BlasLibrary::open({EINJIT_ILP64_BLAS, "_", 64}); });
  CHECK(has(r, "backend_failure"));
  CHECK(has(r, "dgemm_"));
  CHECK(has(r, EINJIT_ILP64_BLAS));
}

}  // namespace
}  // namespace einjit
