// Kernels are compiled once, shared, and dropped when nothing needs them.
#include "runtime/kernel_table.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "einjit/einsum.h"
#include "einjit/error.h"

namespace einjit {
namespace {

KernelSpec copy_kernel(DType type) {
  KernelSpec spec;
  spec.compute = type;
  spec.types = {type, type, type};
  spec.unary = true;
  spec.group(AxisGroup::left) = {
      true, false, 0, {StrideClass::runtime, StrideClass::zero, StrideClass::unit}};
  return spec;
}
jit::Target host() { return jit::target_named(jit::host_cpu_name()); }

TEST_CASE("kernel table: eight threads that want one kernel compile it once") {
  KernelTable table(host());
  std::vector<std::shared_ptr<const Kernel>> found(16);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      found[t] = table.get(copy_kernel(DType::f64));
      found[8 + t] = table.get(copy_kernel(DType::f32));
    });
  for (auto& t : threads) t.join();
  for (std::size_t t = 0; t < 8; ++t) {
    CHECK(found[t] == found[0]);
    CHECK(found[8 + t] == found[8]);
  }
  CHECK(found[0] != found[8]);
  const KernelStatistics s = table.statistics();
  CHECK(s.compiled == 2);
  CHECK(s.held == 2);
  CHECK(s.code_bytes > 0);
  CHECK(s.compile_seconds > 0);
}

TEST_CASE("kernel table: a kernel lives as long as somebody holds it") {
  KernelTable table(host());
  const auto used = table.get(copy_kernel(DType::f64));
  (void)table.get(copy_kernel(DType::f32));
  CHECK(table.statistics().held == 1);
  CHECK(table.get(copy_kernel(DType::f64)) == used);
  CHECK(table.statistics().compiled == 2);
  const double from[] = {1, 2, 3, 4, 5, 6};
  double to[] = {0, 0, 0};
  KernelArgs args;
  args.a = reinterpret_cast<const std::byte*>(from);
  args.c = reinterpret_cast<std::byte*>(to);
  args.groups[1].inner = 3;
  args.groups[1].stride = {16, 0, 8};
  used->entry(&args);
  CHECK(to[0] == 1);
  CHECK(to[1] == 3);
  CHECK(to[2] == 5);
}

TEST_CASE(
    "kernel table: a spec that cannot be compiled fails for everyone, and may be tried again") {
  KernelTable table(host());
  KernelSpec spec = copy_kernel(DType::f64);
  spec.lowering = "no such lowering";
  for (int i = 0; i < 2; ++i) CHECK_THROWS_AS((void)table.get(spec), Error);
  std::vector<std::thread> threads;
  std::atomic<int> thrown = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      try {
        (void)table.get(spec);
      } catch (const Error&) {
        ++thrown;
      }
    });
  for (auto& t : threads) t.join();
  CHECK(thrown == 4);
  CHECK(table.statistics().held == 0);
  CHECK(table.get(copy_kernel(DType::f64)) != nullptr);
}

TEST_CASE("kernel table: Engine::clear drops kernels that no plan holds") {
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  EinsumOptions options;
  options.backend = "jit!";
  const Layout layout = dense_layout(DType::f64, {5, 6});
  {
    const PreparedPlan held = prepare(context, "ij->ji", {&layout, 1}, {}, {}, options);
    engine.clear();
    CHECK(engine.statistics().kernels_held == 1);
    CHECK(engine.statistics().cache.entries == 0);
  }
  engine.clear();
  CHECK(engine.statistics().kernels_held == 0);
  CHECK(engine.statistics().code_bytes == 0);
}

}  // namespace
}  // namespace einjit
