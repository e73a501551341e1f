// Marginals of the "Asia" network (Lauritzen and Spiegelhalter, J. R. Stat. Soc. B 50, 1988,
// section 2).
//
// Eight yes/no variables; the joint distribution is a product of eight conditional tables, and a
// marginal is one einsum. Labels: a visit to Asia, t tuberculosis, s smoking, l lung cancer,
// b bronchitis, e tuberculosis or cancer, x positive X-ray, d dyspnoea. Index 0 is yes.
#include <cmath>
#include <cstdio>
#include <string>

#include "einjit/einjit.h"

int main() {
  using namespace einjit;
  const double pa[] = {0.01, 0.99};
  const double pta[] = {0.05, 0.01, 0.95, 0.99};  // t|a
  const double ps[] = {0.5, 0.5};
  const double pls[] = {0.1, 0.01, 0.9, 0.99};                     // l|s
  const double pbs[] = {0.6, 0.3, 0.4, 0.7};                       // b|s
  const double pelt[] = {1, 1, 1, 0, 0, 0, 0, 1};                  // e|l,t: a logical or
  const double pxe[] = {0.98, 0.05, 0.02, 0.95};                   // x|e
  const double pdbe[] = {0.9, 0.8, 0.7, 0.1, 0.1, 0.2, 0.3, 0.9};  // d|b,e
  struct Marginal {
    const char* of;
    const char* meaning;
    double yes;  // by summing all 256 joint probabilities by hand
  };
  const Marginal marginals[] = {{"t", "tuberculosis", 0.0104},
                                {"l", "lung cancer", 0.055},
                                {"b", "bronchitis", 0.45},
                                {"x", "positive X-ray", 0.11029004},
                                {"d", "dyspnoea", 0.4359706}};

  Engine engine = Engine::make();
  const ExecContext context = ExecContext::serial(engine);
  bool right = true;
  for (const Marginal& m : marginals) {
    const Tensor p = einsum(context, std::string("a,ta,s,ls,bs,elt,xe,dbe->") + m.of, View(pa, {2}),
                            View(pta, {2, 2}), View(ps, {2}), View(pls, {2, 2}), View(pbs, {2, 2}),
                            View(pelt, {2, 2, 2}), View(pxe, {2, 2}), View(pdbe, {2, 2, 2}));
    const double yes = p.values<double>()[0];
    right = right && std::abs(yes - m.yes) < 1e-12;
    std::printf("P(%s) = %.7f, known %.7f\n", m.meaning, yes, m.yes);
  }
  return right ? 0 : 1;
}
