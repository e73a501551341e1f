// The blas backend against the reference one: every form, tiles, alpha and beta, several threads.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

#include "einjit/error.h"
#include "runtime/backends.h"
#include "runtime/blas_library.h"
#include "tests/runtime/hand_plan.h"

using namespace einjit;
using namespace einjit::testing;

namespace {

/// The library that compare() calls: tested once when it is opened, not for every product.
std::unique_ptr<Backend> tested = make_blas_backend(BlasAddress{});

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
T element(double re, [[maybe_unused]] double im) {
  if constexpr (is_complex(dtype_of<T>)) {
    using R = typename T::value_type;
    return {static_cast<R>(re), static_cast<R>(im)};
  } else {
    return static_cast<T>(re);
  }
}

/// Small integers, so that every order of summation gives the same bits.
template <class T>
std::vector<T> integers(std::size_t n, int seed) {
  std::vector<T> values;
  for (std::size_t i = 0; i < n; ++i) {
    const int v = static_cast<int>(i % 1000) * 7 + seed * 13;
    values.push_back(element<T>(v % 9 - 4, v % 5 - 2));
  }
  return values;
}

std::int64_t size_of(const PlanTensor& tensor, const std::vector<std::int64_t>& extents) {
  std::int64_t n = 1;
  for (std::size_t i = 0; i < tensor.labels.size(); ++i)
    n += (extents[static_cast<std::size_t>(tensor.labels[i])] - 1) * tensor.strides[i];
  return n;
}

/// Equal numbers, or the same bits: the gaps' NaN. (The sign of a zero depends on the order of a
/// sum.)
template <class T>
bool same_values(const std::vector<T>& x, const std::vector<T>& y) {
  const auto same = [](T p, T q) { return p == q || std::memcmp(&p, &q, sizeof p) == 0; };
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
}

template <class T>
std::vector<T> result_of(Backend& backend, const Plan& plan, const std::vector<T>& a,
                         const std::vector<T>& b, T before) {
  const auto step = backend.prepare(plan, plan.steps.front());
  REQUIRE(step != nullptr);
  std::vector<T> c(static_cast<std::size_t>(size_of(plan.tensors[2], plan.contraction.extents)),
                   before);
  run_all(*step, {bytes_of(a), bytes_of(b), bytes_of(c), {3, 1}, {2, -1}});
  return c;
}

template <class T>
void compare(const std::map<char, std::int64_t>& extents, const std::vector<HandTensor>& tensors,
             HandScalars scalars = {}) {
  constexpr DType type = dtype_of<T>;
  const Plan plan = hand_plan(extents, tensors, {type, type, type}, type, scalars);
  REQUIRE(plan.steps.front().blas.has_value());
  const auto& sizes = plan.contraction.extents;
  const auto a = integers<T>(static_cast<std::size_t>(size_of(plan.tensors[0], sizes)), 1);
  const auto b = integers<T>(static_cast<std::size_t>(size_of(plan.tensors[1], sizes)), 2);
  const bool overwrites = scalars.beta == BetaClass::zero;
  const T before = overwrites ? element<T>(kNan, kNan) : element<T>(5, 3);
  const auto reference = make_reference_backend();
  CHECK(same_values(result_of<T>(*tested, plan, a, b, before),
                    result_of<T>(*reference, plan, a, b, before)));
}

/// A large product, rows by columns, checked in rows and columns on both sides of every multiple
/// of 64.
void compare_large(std::int64_t m, std::int64_t n, std::int64_t k, bool gemm) {
  const DType t = DType::f64;
  const Plan plan = hand_plan({{'i', m}, {'j', n}, {'k', k}},
                              {{"ik"}, {gemm ? "kj" : "k"}, {gemm ? "ij" : "i"}}, {t, t, t}, t);
  REQUIRE(plan.steps.front().blas.has_value());
  const auto backend = make_blas_backend(BlasAddress{});
  CHECK(backend->prepare(plan, plan.steps.front())->tiles() > 1);
  const auto a = integers<double>(static_cast<std::size_t>(m * k), 1);
  const auto b = integers<double>(static_cast<std::size_t>(k * n), 2);
  const auto c = result_of<double>(*backend, plan, a, b, kNan);
  std::int64_t wrong = std::count_if(c.begin(), c.end(), [](double x) { return std::isnan(x); });
  for (std::int64_t i = 0; i < m; i += i % 64 == 0 ? 63 : 1)
    for (std::int64_t j = 0; j < n; j += j % 64 == 0 ? 63 : 1) {
      double sum = 0;
      for (std::int64_t l = 0; l < k; ++l)
        sum += a[static_cast<std::size_t>(i * k + l)] * b[static_cast<std::size_t>(l * n + j)];
      wrong += sum != c[static_cast<std::size_t>(i * n + j)];
    }
  CHECK(wrong == 0);
}

template <class T>
void compare_all_forms() {
  const std::map<char, std::int64_t> e{{'b', 3}, {'i', 7}, {'j', 5}, {'k', 11}};
  for (const AlphaClass alpha : {AlphaClass::one, AlphaClass::general})
    for (const BetaClass beta : {BetaClass::zero, BetaClass::one, BetaClass::general}) {
      const HandScalars s{alpha, beta};
      for (const char* a : {"ik", "ki"})
        for (const char* b : {"kj", "jk"})
          for (const char* c : {"ij", "ji"}) compare<T>(e, {{a}, {b}, {c}}, s);
      compare<T>(e, {{"bik"}, {"bkj"}, {"bij"}}, s);
      compare<T>(e, {{"ik", {20, 1}}, {"kj", {9, 1}}, {"ij", {17, 1}}}, s);  // gaps after rows
      for (const char* a : {"ik", "ki"}) {
        compare<T>(e, {{a}, {"k"}, {"i"}}, s);
        compare<T>(e, {{"k"}, {a}, {"i"}}, s);
      }
      compare<T>(e, {{"ik"}, {"k", {3}}, {"i", {2}}}, s);
      compare<T>(e, {{"bki"}, {"bk"}, {"bi"}}, s);
    }
}

}  // namespace

TEST_CASE("blas: gemm and gemv in every type and orientation") {
  compare_all_forms<float>();
  compare_all_forms<double>();
  compare_all_forms<c64>();
  compare_all_forms<c128>();
}

TEST_CASE("blas: every form with every library that is installed") {
  constexpr const char* kLibraries[] = {
      kDebianOpenBlas,
      "/usr/lib/x86_64-linux-gnu/blis-serial/libblas.so.3",
      "/usr/lib/x86_64-linux-gnu/blis-serial/libblis.so.4",
      "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3",
  };
  int skipped = 0;
  for (const char* path : kLibraries) {
    if (access(path, R_OK) != 0) {
      std::printf("skipped: the BLAS %s is not installed\n", path);
      ++skipped;
      continue;
    }
    const auto library = BlasLibrary::open({path});
    CHECK(library->ignores_old_content());
    CHECK(library->describe().find(path) != std::string::npos);
    tested = make_blas_backend(library);
    compare_all_forms<float>();
    compare_all_forms<double>();
    compare_all_forms<c64>();
    compare_all_forms<c128>();
  }
  tested = make_blas_backend(BlasAddress{});
  if (skipped > 0) std::printf("skipped libraries: %d\n", skipped);
}

TEST_CASE("blas: conjugated operands") {
  const std::map<char, std::int64_t> e{{'i', 4}, {'j', 6}, {'k', 5}};
  compare<c128>(e, {{"ki", {}, true}, {"kj"}, {"ij"}});
  compare<c64>(e, {{"ki"}, {"jk", {}, true}, {"ij"}});
  compare<c128>(e, {{"ki", {}, true}, {"jk", {}, true}, {"ij"}},
                {AlphaClass::general, BetaClass::general});
  compare<c128>(e, {{"ik", {}, true}, {"k"}, {"i"}});
}

TEST_CASE("blas: dot, batched and strided") {
  const std::map<char, std::int64_t> e{{'b', 300}, {'k', 17}};
  for (const BetaClass beta : {BetaClass::zero, BetaClass::one, BetaClass::general}) {
    compare<double>(e, {{"k"}, {"k"}, {""}}, {AlphaClass::general, beta});
    compare<float>(e, {{"bk"}, {"kb"}, {"b"}}, {AlphaClass::general, beta});
    compare<double>(e, {{"kb"}, {"bk"}, {"b", {2}}}, {AlphaClass::one, beta});
  }
}

TEST_CASE("blas: large products are cut into tiles, small batches are grouped") {
  const auto tiles = [](const std::map<char, std::int64_t>& extents) {
    const DType t = DType::f64;
    const Plan plan = hand_plan(extents, {{"bik"}, {"bkj"}, {"bij"}}, {t, t, t}, t);
    return make_blas_backend(BlasAddress{})->prepare(plan, plan.steps.front())->tiles();
  };
  CHECK(tiles({{'b', 2}, {'i', 1024}, {'j', 1024}, {'k', 1024}}) == 16);
  CHECK(tiles({{'b', 2}, {'i', 10000}, {'j', 100}, {'k', 10000}}) > 50);
  const std::int64_t grouped = tiles({{'b', 100000}, {'i', 4}, {'j', 4}, {'k', 4}});
  CHECK(grouped > 1);
  CHECK(grouped < 1000);
  compare_large(150, 130, 70000, true);
  compare_large(7000, 1, 3000, false);
  compare<float>({{'b', 70000}, {'i', 3}, {'j', 2}, {'k', 5}}, {{"bik"}, {"bkj"}, {"bij"}});
}

TEST_CASE("blas: what has no form is declined, what breaks its laws never reaches the library") {
  const DType t = DType::f64;
  const std::map<char, std::int64_t> e{{'i', 4}, {'j', 6}, {'k', 5}};
  Plan plan = hand_plan(e, {{"ik"}, {"kj"}, {"ij"}}, {t, t, t}, t);
  const auto backend = make_blas_backend(BlasAddress{});
  CHECK(backend->name() == "blas");
  CHECK(backend->capabilities().ignores_old_content);
  CHECK_FALSE(backend->capabilities().keeps_unwritten);
  Step step = plan.steps.front();
  step.blas.reset();
  CHECK(backend->prepare(plan, step) == nullptr);
  const auto refused = [&](auto&& breaks) {
    Step broken = plan.steps.front();
    breaks(*broken.blas);
    CHECK_THROWS_AS(backend->prepare(plan, broken), std::logic_error);
  };
  refused([](BlasForm& f) { f.lda = 0; });
  refused([](BlasForm& f) { f.lda -= f.lda == 0 ? 0 : f.lda - 1; });
  refused([](BlasForm& f) { f.ldb = 1; });
  refused([](BlasForm& f) { f.ldc = f.m - 1; });
  refused([](BlasForm& f) { f.n = 0; });
  refused([](BlasForm& f) { f.m = std::int64_t{1} << 31; });
  refused([](BlasForm& f) { f.trans_b = 'X'; });
  plan.tensors[1].type = DType::f32;
  CHECK_THROWS_AS(backend->prepare(plan, plan.steps.front()), std::logic_error);
}

TEST_CASE("blas: a library that is missing or none is a backend failure that names it") {
  const DType t = DType::f64;
  const Plan plan =
      hand_plan({{'i', 4}, {'j', 6}, {'k', 5}}, {{"ik"}, {"kj"}, {"ij"}}, {t, t, t}, t);
  for (const std::string path : {"/nowhere/libblas.so", "libm.so.6"}) {
    try {
      make_blas_backend(BlasAddress{path})->prepare(plan, plan.steps.front());
      FAIL("opened " << path);
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::backend_failure);
      CHECK(std::string(e.what()).find(path) != std::string::npos);
    }
  }
}

TEST_CASE("blas: the library says what it is") {
  const auto library = BlasLibrary::open({kDebianOpenBlas});
  CHECK(library->is_thread_safe());
  CHECK_FALSE(library->core_name().empty());
  CHECK(library->describe().find("OpenBLAS") == 0);
  CHECK(library->describe().find(kDebianOpenBlas) != std::string::npos);
}

TEST_CASE("blas_concurrency: 20,000 products of 2, 8 and 16 threads have the bits of one") {
  // Large enough for the packed kernels: smaller ones share no buffers even in an unsafe build.
  constexpr std::size_t kKinds = 8;
  constexpr int kProducts = 20000;
  const DType t = DType::f64;
  const Plan plan =
      hand_plan({{'i', 131}, {'j', 113}, {'k', 97}}, {{"ik"}, {"kj"}, {"ij"}}, {t, t, t}, t);
  const auto backend = make_blas_backend(BlasAddress{});
  const auto step = backend->prepare(plan, plan.steps.front());
  REQUIRE(step != nullptr);
  std::vector<std::vector<double>> a(kKinds), b(kKinds), right(kKinds);
  const auto product = [&](std::size_t kind, std::vector<double>& c) {
    c.assign(131 * 113, kNan);
    run_all(*step, {bytes_of(a[kind]), bytes_of(b[kind]), bytes_of(c), {1, 0}, {0, 0}});
  };
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    for (int i = 0; i < 131 * 97; ++i) a[kind].push_back(std::sin(i + static_cast<double>(kind)));
    for (int i = 0; i < 97 * 113; ++i)
      b[kind].push_back(std::cos(i * (1.0 + static_cast<double>(kind))));
    product(kind, right[kind]);
  }
  for (const int threads : {2, 8, 16}) {
    std::atomic<int> wrong = 0;
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i)
      running.emplace_back([&, i] {
        std::vector<double> c;
        for (int n = 0; n < kProducts / threads; ++n) {
          const std::size_t kind = static_cast<std::size_t>(i + n) % kKinds;
          product(kind, c);
          wrong += !same_bits(c, right[kind]);
        }
      });
    for (std::thread& thread : running) thread.join();
    CAPTURE(threads);
    CHECK(wrong == 0);
  }
}
