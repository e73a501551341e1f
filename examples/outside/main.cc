// The same product from a project of its own, through find_package(einjit).
#include <cstdio>
#include <vector>

#include "einjit/einjit.h"

int main() {
  std::vector<double> a{1, 2, 3, 4, 5, 6}, b{1, 0, 2, 1, 0, 3};  // 2×3 and 3×2, row-major

  auto engine = einjit::Engine::make();
  auto context = einjit::ExecContext::serial(engine);
  einjit::Tensor c = einjit::einsum(context, "ij,jk->ik", einjit::View(a.data(), {2, 3}),
                                    einjit::View(b.data(), {3, 2}));
  for (double x : c.values<double>()) std::printf("%g ", x);  // 5 11 14 23
  std::printf("\n");
  return c.values<double>()[3] == 23 ? 0 : 1;
}
