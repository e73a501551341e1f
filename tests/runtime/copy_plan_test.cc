// Copy plans: every type and widening, signs of strides, gaps, refusals, and replays without
// allocation.
#include "einjit/copy_plan.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/allocation_count.h"
#include "tests/refused.h"

namespace einjit {
namespace {

template <class T>
T number(double re, [[maybe_unused]] double im) {
  if constexpr (is_complex(dtype_of<T>)) {
    using R = typename T::value_type;
    return {static_cast<R>(re), static_cast<R>(im)};
  } else {
    return static_cast<T>(re);
  }
}

template <class D, class S>
D widened(S x) {
  if constexpr (is_complex(dtype_of<S>)) return number<D>(x.real(), x.imag());
  return number<D>(std::real(x), 0);
}

template <class T>
T conjugate(T x) {
  if constexpr (is_complex(dtype_of<T>)) return std::conj(x);
  return x;
}

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

/// A 3 × 4 source read backwards along axis 1, a transposed destination with gaps, backwards along
/// axis 0; every element of both that is reached, and the bits between.
template <class S, class D>
void move_all(const ExecContext& context, const char* backend) {
  EinsumOptions options;
  options.backend = backend;
  const D sentinel = number<D>(std::numeric_limits<double>::quiet_NaN(), 77);
  std::vector<S> in(12);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = number<S>(static_cast<double>(i) + 0.5, 3 - static_cast<double>(i));
  const View<S> plain(in, 3, {3, 4}, {4, -1});
  for (const bool conj : {false, true})
    for (const std::complex<double> alpha :
         {std::complex<double>{1, 0}, {-2, is_complex(dtype_of<S>) ? 0.5 : 0}, {0, 0}}) {
      const Operand source = conj ? plain.conj() : plain;
      std::vector<D> out(40, sentinel), expected = out;
      const auto at = [](std::int64_t i, std::int64_t j) { return 5 - 2 * i + 8 * j; };
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t j = 0; j < 4; ++j) {
          S x = in[static_cast<std::size_t>(3 + 4 * i - j)];
          if (conj) x = conjugate(x);
          if (alpha != 1.0) x = number<S>(alpha.real(), alpha.imag()) * x;
          expected[static_cast<std::size_t>(at(i, j))] = alpha == 0.0 ? D() : widened<D>(x);
        }
      const Layout to{dtype_of<D>, {3, 4}, {-2, 8}, false};
      const CopyPlan scaled =
          CopyPlan::make(context, layout_of(source), to, CopyKind::scaled, options);
      scaled.run(source, MutableView<D>(out, 5, {3, 4}, {-2, 8}), alpha);
      CHECK(same_bits(out, expected));
      if (alpha != 1.0) continue;
      out.assign(40, sentinel);
      const CopyPlan unscaled =
          CopyPlan::make(context, layout_of(source), to, CopyKind::plain, options);
      const UninitView<D> raw(out.data(), out.size() * sizeof(D), 5, {3, 4}, {-2, 8});
      const MutableView<D> filled = unscaled.run(source, raw);
      CHECK(filled.data() == out.data() + 5);
      CHECK(same_bits(out, expected));
    }
}

struct Copies {
  Engine engine = Engine::make();
  ExecContext context = ExecContext::serial(engine);
};

TEST_CASE("copy plan: plain, scaled and conjugated, in every type and widening") {
  Copies c;
  for (const char* backend : {"jit", "reference"}) {
    move_all<float, float>(c.context, backend);
    move_all<float, double>(c.context, backend);
    move_all<float, c64>(c.context, backend);
    move_all<float, c128>(c.context, backend);
    move_all<double, double>(c.context, backend);
    move_all<double, c128>(c.context, backend);
    move_all<c64, c64>(c.context, backend);
    move_all<c64, c128>(c.context, backend);
    move_all<c128, c128>(c.context, backend);
  }
}

TEST_CASE("copy plan: a large transposition, under a context of many threads") {
  Copies c;
  constexpr std::int64_t n = 300, m = 257;
  std::vector<double> in(n * m), out(n * m);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<double>(i);
  const View<double> source(in.data(), {n, m});
  const Layout to{DType::f64, {n, m}, {1, n}, false};
  const CopyPlan plan =
      CopyPlan::make(ExecContext::max_threads(c.engine, 2), layout_of(source), to);
  plan.run(source, MutableView<double>(out.data(), {n, m}, {1, n}));
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j)
      wrong += in[static_cast<std::size_t>(i * m + j)] != out[static_cast<std::size_t>(j * n + i)];
  CHECK(wrong == 0);
}

TEST_CASE("copy plan: infinities pass a plain copy, alpha = 0 reads nothing") {
  Copies c;
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<c128> in{{infinity, 1}, {2, -infinity}};
  std::vector<c128> out(2);
  const View<c128> source(in.data(), {2});
  const MutableView<c128> to(out.data(), {2});
  const Layout dense = dense_layout(DType::c128, {2});
  const CopyPlan plan = CopyPlan::make(c.context, dense, dense, CopyKind::scaled);
  plan.run(source, to);
  CHECK(out == in);
  plan.run(source, to, 0.0);
  CHECK(out == std::vector<c128>(2));
}

TEST_CASE("copy plan: what cannot be a copy is refused when it is made") {
  Copies c;
  const auto make = [&](const Layout& from, const Layout& to) {
    return refused([&] { (void)CopyPlan::make(c.context, from, to); });
  };
  const Layout f64 = dense_layout(DType::f64, {2, 3});
  CHECK(has(make(f64, dense_layout(DType::f32, {2, 3})), "dtype_mismatch"));
  CHECK(has(make(dense_layout(DType::c64, {2, 3}), f64), "dtype_mismatch"));
  CHECK(has(make(f64, dense_layout(DType::f64, {3, 2})), "destination_shape_mismatch"));
  CHECK(has(make(f64, dense_layout(DType::f64, {6})), "destination_shape_mismatch"));
  CHECK(has(make(dense_layout(DType::f64, {1, 3}), f64), "destination_shape_mismatch"));
  CHECK(has(make(f64, {DType::f64, {2, 3}, {2, 1}, false}), "destination_not_injective"));
  CHECK(has(make(f64, {DType::f64, {2, 3}, {0, 1}, false}), "destination_not_injective"));
  CHECK(make({DType::f64, {2, 3}, {0, 0}, false}, f64) == "not refused");  // one value, repeated
}

TEST_CASE("copy plan: a replay takes the prepared layouts only, and a refused one writes nothing") {
  Copies c;
  std::vector<double> in{1, 2, 3, 4, 5, 6}, out(12, -1);
  const CopyPlan plan = CopyPlan::make(c.context, dense_layout(DType::f64, {2, 3}),
                                       {DType::f64, {2, 3}, {6, 2}, false});
  const View<double> source(in, 0, {2, 3}, {3, 1});
  const MutableView<double> to(out, 0, {2, 3}, {6, 2});
  const auto run = [&](const Operand& s, const Destination& d, std::complex<double> alpha = 1) {
    return refused([&] { plan.run(s, d, alpha); });
  };
  CHECK(has(run(View<double>(in, 0, {3, 2}, {2, 1}), to),
            "invalid_argument: operand 0: the extent of axis 0 is 3"));
  CHECK(has(run(View<double>(in, 0, {2, 3}, {1, 2}), to),
            "invalid_argument: operand 0: the stride of axis 0 is 1"));
  CHECK(has(run(source, MutableView<double>(out, 0, {2, 3}, {6, 1})),
            "invalid_argument: the destination: the stride of axis 1 is 1"));
  CHECK(has(run(View<float>(nullptr, {2, 3}), to), "invalid_argument: operand 0 holds f32"));
  CHECK(has(run(source, to, 2.0), "invalid_argument"));  // made plain
  CHECK(has(run(source, to, 0.0), "invalid_argument"));
  CHECK(has(run(View<double>(in, 1, {2, 3}, {3, 1}), to), "out_of_bounds: operand 0"));
  CHECK(has(run(source, MutableView<double>(out, 2, {2, 3}, {6, 2})),
            "out_of_bounds: the destination"));
  CHECK(has(run(View<double>(out.data() + 1, {2, 3}), to), "destination_aliases_operand"));
  CHECK(out == std::vector<double>(12, -1));
  const Layout dense = dense_layout(DType::f64, {2, 3});
  const CopyPlan scaled = CopyPlan::make(c.context, dense, dense, CopyKind::scaled);
  CHECK(has(refused([&] { scaled.run(source, MutableView<double>(out.data(), {2, 3}), {2, 1}); }),
            "invalid_argument"));  // a complex factor of real elements
}

TEST_CASE("copy plan: an extent of 0 writes nothing, rank 0 moves one element") {
  Copies c;
  const CopyPlan empty = CopyPlan::make(c.context, dense_layout(DType::f32, {0, 3}),
                                        dense_layout(DType::f64, {0, 3}), CopyKind::scaled);
  std::vector<double> out(1, 7);
  for (const double alpha : {0.0, 1.0, 2.0})
    empty.run(View<float>(nullptr, {0, 3}), MutableView<double>(out.data(), {0, 3}), alpha);
  CHECK(out.front() == 7);
  const CopyPlan scalar =
      CopyPlan::make(c.context, dense_layout(DType::f32, {}), dense_layout(DType::f64, {}));
  const float x = 3;
  scalar.run(View<float>(&x, {}), MutableView<double>(out.data(), {}));
  CHECK(out.front() == 3);
}

TEST_CASE("copy plan: replays allocate nothing") {
  Copies c;
  for (const char* backend : {"jit", "reference"}) {
    EinsumOptions options;
    options.backend = backend;
    std::vector<float> in(5 * 6 * 7, 2);
    std::vector<c128> out(in.size());
    const Operand source = View<float>(in.data(), {5, 6, 7});
    const UninitView<c128> raw(out.data(), {5, 6, 7}, {1, 5, 30});
    const CopyPlan plan =
        CopyPlan::make(c.context, layout_of(source), {DType::c128, {5, 6, 7}, {1, 5, 30}, false},
                       CopyKind::scaled, options);
    c.engine.clear();  // pooled buffers too
    const AllocationWatch watch([] { return true; });
    for (const double alpha : {1.0, 3.0, 0.0, 0.5}) (void)plan.run(source, raw, alpha);
    CHECK(watch.count() == 0);
    CHECK(out.back() == c128(1, 0));
  }
}

}  // namespace
}  // namespace einjit
