// Destinations: storage without a value, accumulation with beta, a plan prepared once and run
// often.
#include <array>
#include <cstdio>
#include <memory>
#include <vector>

#include "einjit/einjit.h"

int main() {
  using namespace einjit;
  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  const std::vector<double> a{1, 2, 3, 4}, b{5, 6, 7, 8};
  const View<double> va(a.data(), {2, 2}), vb(b.data(), {2, 2});

  // 1. Storage that holds no value yet: only the returned view can be read.
  const auto storage = std::make_unique_for_overwrite<double[]>(4);
  MutableView<double> c =
      einsum_into(context, "ij,jk->ik", UninitView<double>(storage.get(), {2, 2}), {va, vb});
  std::printf("c = %g %g %g %g\n", c.data()[0], c.data()[1], c.data()[2], c.data()[3]);

  // 2. c = 2·(a bᵀ) − c, the transposed result written through strides.
  einsum_into(context, "ij,kj->ki", c, {va, vb}, Scalars{2.0, -1.0});
  std::printf("c = %g %g %g %g\n", c.data()[0], c.data()[1], c.data()[2], c.data()[3]);

  // 3. Planned and compiled once, run often; the results follow the data.
  const std::array layouts{dense_layout(DType::f64, {2, 2}), dense_layout(DType::f64, {2, 2})};
  const PreparedPlan plan = prepare(context, "ij,jk->ik", layouts);
  std::printf("%s", plan.explain().c_str());
  double total = 0;
  for (int i = 0; i < 1000; ++i) {
    c = plan.run(context, {va, vb}, UninitView<double>(storage.get(), {2, 2}));
    total += c.data()[3];
  }
  std::printf("total = %g\n", total);
  return total == 50000 ? 0 : 1;
}
