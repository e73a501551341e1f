// kernel_spec.h's definition of a step, term by term: what every lowering on every target must
// equal, bit for bit.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <vector>

#include "einjit/kernel_abi.h"
#include "einjit/kernel_spec.h"

namespace einjit::testing {

/// A number of the compute type, real types with im = 0 and unused.
template <class R>
struct Number {
  R re = 0, im = 0;
};

template <class R>
class Interpreter {
 public:
  Interpreter(const KernelSpec& spec, const KernelArgs& args) : spec_(spec), args_(args) {}

  void run() {
    std::array<std::int64_t, 3> zero{};
    walk(AxisGroup::batch, zero, [&](auto batch) {
      walk(AxisGroup::left, batch,
           [&](auto left) { walk(AxisGroup::right, left, [&](auto right) { element(right); }); });
    });
  }

 private:
  using At = std::array<std::int64_t, 3>;
  static constexpr auto index(AxisGroup g) { return static_cast<std::size_t>(g); }

  At at(AxisGroup g, At base, std::int64_t o, std::int64_t m, std::int64_t i) const {
    const GroupArgs& group = args_.groups[index(g)];
    const GroupSpec& s = spec_.group(g);
    if (!s.present) return base;
    for (std::size_t t = 0; t < 3; ++t) {
      if (s.tabled)
        base[t] += group.outer_table[3 * o + static_cast<std::int64_t>(t)] +
                   group.middle_table[3 * m + static_cast<std::int64_t>(t)];
      base[t] += i * group.stride[t];
    }
    return base;
  }
  template <class F>
  void walk(AxisGroup g, At base, F&& body) {
    const GroupArgs& group = args_.groups[index(g)];
    const bool present = spec_.group(g).present;
    for (std::int64_t o = 0; o < (present ? group.outer : 1); ++o)
      for (std::int64_t m = 0; m < (present ? group.middle : 1); ++m)
        for (std::int64_t i = 0; i < (present ? group.inner : 1); ++i) body(at(g, base, o, m, i));
  }

  template <class S>
  static Number<R> load(const std::byte* p, bool complex) {
    S parts[2] = {0, 0};
    std::memcpy(parts, p, sizeof(S) * (complex ? 2 : 1));
    return {static_cast<R>(parts[0]), static_cast<R>(parts[1])};
  }
  Number<R> read(int t, At where) const {
    const DType type = spec_.types[static_cast<std::size_t>(t)];
    const std::byte* p = (t == kA   ? args_.a
                          : t == kB ? args_.b
                                    : args_.c) +
                         where[static_cast<std::size_t>(t)];
    Number<R> n =
        is_double(type) ? load<double>(p, is_complex(type)) : load<float>(p, is_complex(type));
    if (t != kC && is_complex(type) && spec_.conj[static_cast<std::size_t>(t)]) n.im = -n.im;
    return n;
  }
  bool complex() const { return is_complex(spec_.compute); }
  Number<R> fma_term(Number<R> a, Number<R> b, Number<R> s) const {
    if (!complex()) return {std::fma(a.re, b.re, s.re), 0};
    return {std::fma(-a.im, b.im, std::fma(a.re, b.re, s.re)),
            std::fma(a.im, b.re, std::fma(a.re, b.im, s.im))};
  }
  Number<R> add(Number<R> a, Number<R> b) const {
    return {a.re + b.re, complex() ? a.im + b.im : 0};
  }
  Number<R> alone(Number<R> a, Number<R> b) const {
    if (!complex()) return {a.re * b.re, 0};
    return {std::fma(-a.im, b.im, a.re * b.re), std::fma(a.im, b.re, a.re * b.im)};
  }

  Number<R> sum(At where) const {
    constexpr AxisGroup k = AxisGroup::contracted;
    if (!spec_.group(k).present)
      return spec_.unary ? read(kA, where) : alone(read(kA, where), read(kB, where));
    const GroupArgs& group = args_.groups[index(k)];
    const std::int64_t lanes = spec_.sum_order.lanes, chain = spec_.sum_order.chain,
                       inner = group.inner;
    const std::int64_t outer = group.outer * group.middle, steps = (inner + lanes - 1) / lanes;
    std::vector<Number<R>> blocks;
    const auto block = [&](std::int64_t o0, std::int64_t o1, std::int64_t i0, std::int64_t i1) {
      std::vector<Number<R>> lane(static_cast<std::size_t>(lanes));
      for (std::int64_t o = o0; o < o1; ++o)
        for (std::int64_t i = i0; i < i1; ++i) {
          const At p = at(k, where, o / group.middle, o % group.middle, i);
          Number<R>& l = lane[static_cast<std::size_t>(i % lanes)];
          l = spec_.unary ? add(l, read(kA, p)) : fma_term(read(kA, p), read(kB, p), l);
        }
      for (std::int64_t half = lanes / 2; half >= 1; half /= 2)
        for (std::int64_t l = 0; l < half; ++l)
          lane[static_cast<std::size_t>(l)] =
              add(lane[static_cast<std::size_t>(l)], lane[static_cast<std::size_t>(l + half)]);
      blocks.push_back(lane[0]);
    };
    if (steps >= chain)
      for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t i = 0; i < inner; i += chain * lanes)
          block(o, o + 1, i, std::min(inner, i + chain * lanes));
    else
      for (std::int64_t o = 0; o < outer; o += chain / steps)
        block(o, std::min(outer, o + chain / steps), 0, inner);
    if (lanes == 1) {
      Number<R> total = blocks[0];
      for (std::size_t t = 1; t < blocks.size(); ++t) total = add(total, blocks[t]);
      return total;
    }
    std::vector<std::pair<std::int64_t, Number<R>>> tree;  // (size, sum), sizes falling
    for (const Number<R>& b : blocks) {
      tree.push_back({1, b});
      while (tree.size() > 1 && tree[tree.size() - 2].first == tree.back().first) {
        const auto right = tree.back();
        tree.pop_back();
        tree.back() = {2 * right.first, add(tree.back().second, right.second)};
      }
    }
    Number<R> total = tree.back().second;
    for (std::size_t t = tree.size() - 1; t-- > 0;) total = add(tree[t].second, total);
    return total;
  }

  template <class S>
  void store(std::byte* p, Number<R> v) const {
    const S parts[2] = {static_cast<S>(v.re), complex() ? static_cast<S>(v.im) : 0};
    std::memcpy(p, parts, sizeof(S) * (is_complex(spec_.types[kC]) ? 2 : 1));
  }

  void element(At where) const {
    Number<R> v = sum(where);
    const Number<R> alpha{static_cast<R>(args_.alpha[0]), static_cast<R>(args_.alpha[1])};
    const Number<R> beta{static_cast<R>(args_.beta[0]), static_cast<R>(args_.beta[1])};
    if (spec_.alpha == AlphaClass::general)
      v = complex() ? fma_term(v, alpha, {}) : alone(v, alpha);
    if (spec_.beta == BetaClass::one) v = add(read(kC, where), v);
    if (spec_.beta == BetaClass::general) {
      const Number<R> old = read(kC, where);
      v = complex() ? add(fma_term(beta, old, {}), v) : fma_term(beta, old, v);
    }
    if (is_double(spec_.types[kC]))
      store<double>(args_.c + where[kC], v);
    else
      store<float>(args_.c + where[kC], v);
  }

  const KernelSpec& spec_;
  const KernelArgs& args_;
};

inline void interpret(const KernelSpec& spec, const KernelArgs& args) {
  if (is_double(spec.compute))
    Interpreter<double>(spec, args).run();
  else
    Interpreter<float>(spec, args).run();
}

}  // namespace einjit::testing
