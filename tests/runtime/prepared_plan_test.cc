// Prepared plans: what run and bind refuse, what they write, and that a warm run allocates nothing.
#include <doctest/doctest.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "einjit/einsum.h"
#include "tests/allocation_count.h"
#include "tests/refused.h"

namespace einjit {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Product {
  Engine engine = Engine::make();
  ExecContext context = ExecContext::serial(engine);
  std::vector<double> a{1, 2, 3, 4, 5, 6}, b{1, 0, 2, 1, 0, 3}, c = std::vector<double>(4, kNan);
  View<double> va{a, 0, {2, 3}, {3, 1}}, vb{b, 0, {3, 2}, {2, 1}};
  MutableView<double> vc{c, 0, {2, 2}, {2, 1}};
  const std::vector<double> right{5, 11, 14, 23};
  PreparedPlan prepared(const char* backend = "auto", Scalars scalars = {}) {
    EinsumOptions options;
    options.backend = backend;
    const Layout layouts[] = {layout_of(va), layout_of(vb)};
    return prepare(context, "ij,jk->ik", layouts, {}, scalars, options);
  }
};

TEST_CASE("prepared plan: run and bind give the product on every backend") {
  for (const char* backend : {"auto", "reference", "jit", "blas"}) {
    Product p;
    const PreparedPlan plan = p.prepared(backend);
    plan.run(p.context, {p.va, p.vb}, p.vc);
    CHECK(p.c == p.right);
    p.c.assign(4, kNan);
    const Operand operands[] = {p.va, p.vb};
    const BoundCall call = plan.bind(p.context, operands, p.vc);
    for (int i = 0; i < 3; ++i) {
      p.c.assign(4, kNan);
      call();
      CHECK(p.c == p.right);
    }
    CHECK(plan.trace().size() == 1);
    CHECK_FALSE(plan.explain().empty());
  }
}

TEST_CASE("prepared plan: an uninitialized destination comes back as a view that may be read") {
  Product p;
  std::vector<double> storage(4, kNan);
  const MutableView<double> out =
      p.prepared().run(p.context, {p.va, p.vb}, UninitView<double>(storage.data(), {2, 2}));
  CHECK(out.data() == storage.data());
  CHECK(storage == p.right);
}

TEST_CASE("prepared plan: other layouts are refused, naming operand and axis") {
  Product p;
  const PreparedPlan plan = p.prepared("reference");
  const auto run = [&](const Operand& x, const Operand& y, const Destination& d, Scalars s = {}) {
    const Operand all[] = {x, y};
    return refused([&] { plan.run(p.context, all, d, s); });
  };
  std::string r = run(View<double>(p.a, 0, {3, 2}, {2, 1}), p.vb, p.vc);
  CHECK(has(r, "invalid_argument: operand 0: the extent of axis 0 is 3"));
  r = run(p.va, View<double>(p.b, 0, {3, 2}, {1, 3}), p.vc);
  CHECK(has(r, "invalid_argument: operand 1: the stride of axis 0 is 1"));
  CHECK(has(r, "prepared for 2"));
  std::vector<double> wide(12);
  r = run(p.va, p.vb, MutableView<double>(wide, 0, {2, 2}, {6, 1}));
  CHECK(has(r, "the destination: the stride of axis 0 is 6"));
  r = run(p.va, View<double>(p.b, 0, {6}, {1}), p.vc);
  CHECK(has(r, "operand 1: the rank is 1"));
  std::vector<float> narrow(6);
  r = run(View<float>(narrow.data(), {2, 3}), p.vb, p.vc);
  CHECK(has(r, "operand 0 holds f32"));
  r = run(p.va, p.vb, p.vc, {.alpha = {2, 0}});
  CHECK(has(r, "invalid_argument"));
  r = run(p.va, p.vb, p.vc, {.beta = {1, 0}});
  CHECK(has(r, "invalid_argument"));
  r = run(View<double>(p.a, 1, {2, 3}, {3, 1}), p.vb, p.vc);
  CHECK(has(r, "out_of_bounds: operand 0"));
  r = run(p.va, p.vb, MutableView<double>(p.a.data(), {2, 2}));
  CHECK(has(r, "destination_aliases_operand"));
  const Operand one[] = {p.va};
  CHECK(has(refused([&] { plan.run(p.context, one, p.vc); }), "operand_count_mismatch"));
  CHECK(has(refused([&] { (void)plan.bind(p.context, one, p.vc); }), "operand_count_mismatch"));
  for (const double v : p.c)
    CHECK(std::bit_cast<std::uint64_t>(v) == std::bit_cast<std::uint64_t>(kNan));
  CHECK(run(p.va.conj(), p.vb, p.vc) == "not refused");  // conj of a real operand does nothing
}

TEST_CASE("prepared plan: strides of axes of extent 1 mean nothing at run either") {
  Product p;
  const Layout layouts[] = {dense_layout(DType::f64, {1, 3})};
  const PreparedPlan plan = prepare(p.context, "ij->j", layouts);
  std::vector<double> out(3);
  const Operand odd[] = {View<double>(p.a.data(), {1, 3}, {-99, 1})};
  plan.run(p.context, odd, MutableView<double>(out.data(), {3}));
  CHECK(out == std::vector<double>{1, 2, 3});
}

TEST_CASE("prepared plan: conjugation is part of what was prepared") {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  const std::vector<c128> x{{1, 2}, {3, -4}};
  std::vector<c128> y(2);
  Layout layout = dense_layout(DType::c128, {2});
  layout.conj = true;
  const PreparedPlan plan = prepare(context, "i->i", {&layout, 1});
  const View<c128> view(x.data(), {2});
  const MutableView<c128> out(y.data(), {2});
  const Operand plain[] = {view}, conjugated[] = {view.conj()};
  CHECK(has(refused([&] { plan.run(context, plain, out); }), "invalid_argument: operand 0"));
  plan.run(context, conjugated, out);
  CHECK(y == std::vector<c128>{{1, -2}, {3, 4}});
}

TEST_CASE("prepared plan: NaN does not survive beta = 0, and gaps keep their bits") {
  for (const char* backend : {"auto", "reference", "jit", "blas"}) {
    Product p;
    EinsumOptions options;
    options.backend = backend;
    std::vector<double> storage(12, kNan);
    const MutableView<double> d(storage, 7, {2, 2}, {-6, 2});  // 7, 9, 1, 3
    einsum_into(p.context, "ij,jk->ik", d, {p.va, p.vb}, {}, options);
    for (std::size_t i = 0; i < storage.size(); ++i)
      if (i != 7 && i != 9 && i != 1 && i != 3)
        CHECK(std::bit_cast<std::uint64_t>(storage[i]) == std::bit_cast<std::uint64_t>(kNan));
    CHECK(storage[7] == 5);
    CHECK(storage[9] == 11);
    CHECK(storage[1] == 14);
    CHECK(storage[3] == 23);
    einsum_into(p.context, "ij,jk->ik", d, {p.va, p.vb}, {.alpha = {2, 0}, .beta = {-1, 0}},
                options);
    CHECK(storage[7] == 5);
    CHECK(storage[3] == 23);
  }
}

TEST_CASE("prepared plan: a refused call writes nothing; beta needs a value to read") {
  Product p;
  EinsumOptions options;
  const Operand operands[] = {p.va, p.vb};
  const Destination d(UninitView<double>(p.c.data(), {2, 2}));
  CHECK(has(
      refused([&] { einsum_into(p.context, "ij,jk->ik", d, operands, {.beta = {1, 0}}, options); }),
      "invalid_argument"));
  options.memory_limit_bytes = 1;
  options.finder = "no such finder";
  CHECK(has(refused([&] { einsum_into(p.context, "ij,jk->ik", d, operands, {}, options); }),
            "no such finder"));
  for (const double v : p.c)
    CHECK(std::bit_cast<std::uint64_t>(v) == std::bit_cast<std::uint64_t>(kNan));
}

TEST_CASE("prepared plan: an empty result is a success that writes nothing") {
  Product p;
  std::vector<double> none;
  const Tensor t = einsum(p.context, "ij,jk->ik", View<double>(none.data(), {0, 3}), p.vb);
  CHECK(t.size() == 0);
  CHECK(t.extents() == Dims{0, 2});
}

TEST_CASE("prepared plan: a stop discards scratch storage, and the next run is right") {
  Product p;
  const Layout layouts[] = {layout_of(p.va), layout_of(p.vb), dense_layout(DType::f64, {2, 2})};
  const PreparedPlan plan = prepare(p.context, "ij,jk,kl->il", layouts);
  const std::vector<double> unit{1, 0, 0, 1};
  const Operand operands[] = {p.va, p.vb, View<double>(unit.data(), {2, 2})};
  plan.run(p.context, operands, p.vc);
  REQUIRE(plan.plan().arena_bytes > 0);
  CHECK(p.engine.statistics().pool_retained_bytes > 0);
  std::stop_source source;
  source.request_stop();
  CHECK(has(refused([&] { plan.run(p.context.with_stop(source.get_token()), operands, p.vc); }),
            "cancelled"));
  CHECK(p.engine.statistics().pool_retained_bytes == 0);
  CHECK(p.engine.statistics().pool_in_flight == 0);
  p.c.assign(4, kNan);
  plan.run(p.context, operands, p.vc);
  CHECK(p.c == p.right);
}

TEST_CASE("prepared plan: warm serial runs and bound calls allocate nothing") {
  for (const char* backend : {"reference", "jit", "blas"}) {
    Product p;
    EinsumOptions options;
    options.backend = backend;
    const Layout layouts[] = {layout_of(p.va), layout_of(p.vb), dense_layout(DType::f64, {2, 2})};
    const AllocationWatch watch([] { return true; });
    const PreparedPlan plan = prepare(p.context, "ij,jk,kl->il", layouts, {}, {}, options);
    REQUIRE(watch.count() > 0);  // the counter counts the library's too
    REQUIRE(plan.plan().arena_bytes > 0);
    const std::vector<double> unit{1, 0, 0, 1};
    const Operand operands[] = {p.va, p.vb, View<double>(unit.data(), {2, 2})};
    const Destination d(p.vc);
    const BoundCall call = plan.bind(p.context, operands, d);
    plan.run(p.context, operands, d);
    const std::int64_t before = watch.count();
    for (int i = 0; i < 10; ++i) plan.run(p.context, operands, d);
    for (int i = 0; i < 10; ++i) call();
    CHECK(watch.count() - before == 0);
    CHECK(p.c == p.right);
  }
}

}  // namespace
}  // namespace einjit
