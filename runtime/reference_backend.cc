// The backend "reference": a step as two plain loops, output labels outside, summed labels inside.
//
// Plan.tensors (labels, strides) + extents → loops. It shares no index code with planner's fused
// geometry or with the jit, so that it can speak against them. Laws: products and sums are of the
// step's compute type; a sum is chains of at most 256 terms, joined by the binary-counter tree of
// kernel_spec.h; c is read only where beta is not zero, and written once an element.
#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "einjit/error.h"
#include "runtime/backends.h"

namespace einjit {
namespace {

constexpr std::size_t kChain = 256;
/// Axes have extent 2 or more, so a loop that could ever end has fewer than this many.
constexpr std::size_t kMostAxes = 63;

/// A label's extent and its stride in a, b, c, in bytes; 0 where the tensor has not the label.
struct LabelLoop {
  std::int64_t extent = 1;
  std::array<std::int64_t, 3> strides{};
};

/// Counts through a list of loops, the last one fastest, and keeps the three byte offsets.
class Odometer {
 public:
  explicit Odometer(const std::vector<LabelLoop>& loops) : loops_(loops) {
    std::fill_n(index_.begin(), loops.size(), 0);
  }
  const std::array<std::int64_t, 3>& offsets() const { return offsets_; }
  /// False after the last position.
  bool advance() {
    for (std::size_t i = loops_.size(); i-- > 0;) {
      const LabelLoop& loop = loops_[i];
      const bool wraps = ++index_[i] == loop.extent;
      const std::int64_t steps = wraps ? 1 - loop.extent : 1;
      for (std::size_t t = 0; t < 3; ++t) offsets_[t] += steps * loop.strides[t];
      if (!wraps) return true;
      index_[i] = 0;
    }
    return false;
  }

 private:
  const std::vector<LabelLoop>& loops_;
  std::array<std::int64_t, kMostAxes> index_;
  std::array<std::int64_t, 3> offsets_{};
};

template <class R>
struct Real {
  using Part = R;
  R re = 0;
  static Real of(double re, double) { return {static_cast<R>(re)}; }
  void conjugate() {}
};
template <class R>
struct Complex {
  using Part = R;
  R re = 0, im = 0;
  static Complex of(double re, double im) { return {static_cast<R>(re), static_cast<R>(im)}; }
  void conjugate() { im = -im; }
};

template <class R>
Real<R> operator+(Real<R> x, Real<R> y) {
  return {x.re + y.re};
}
template <class R>
Complex<R> operator+(Complex<R> x, Complex<R> y) {
  return {x.re + y.re, x.im + y.im};
}
template <class R>
Real<R> operator*(Real<R> x, Real<R> y) {
  return {x.re * y.re};
}
template <class R>
Complex<R> operator*(Complex<R> x, Complex<R> y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

template <class R>
std::array<R, 2> parts(const std::byte* from, bool complex) {
  std::array<R, 2> value{};
  std::memcpy(value.data(), from, sizeof(R));
  if (complex) std::memcpy(&value[1], from + sizeof(R), sizeof(R));
  return value;
}

/// A stored element, converted; a real one becomes complex with imaginary part 0.
template <class V>
V load(DType type, const std::byte* from) {
  if (is_double(type)) {
    const auto [re, im] = parts<double>(from, is_complex(type));
    return V::of(re, im);
  }
  const auto [re, im] = parts<float>(from, is_complex(type));
  return V::of(re, im);
}

template <class V>
void store(V value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}

/// Joins block sums pairwise: at any time at most one sum of each power of two blocks is pending.
template <class V>
class BlockTree {
 public:
  void add(V block) {
    for (std::uint64_t bits = blocks_++; bits & 1; bits >>= 1) block = pending_[--size_] + block;
    pending_[size_++] = block;
  }
  /// The sum of all blocks, at least one; the tree is empty afterwards.
  V take_total() {
    V sum = pending_[--size_];
    while (size_ > 0) sum = pending_[--size_] + sum;
    blocks_ = 0;
    return sum;
  }

 private:
  std::uint64_t blocks_ = 0;
  std::size_t size_ = 0;
  std::array<V, 64> pending_;
};

class ReferenceStep final : public PreparedStep {
 public:
  ReferenceStep(const Plan& plan, const Step& step);
  std::string_view backend() const override { return "reference"; }
  std::int64_t tiles() const override { return 1; }
  void run(const StepPointers& pointers, std::int64_t) const noexcept override {
    if (nothing_to_write_) return;
    switch (compute_) {
      case DType::f32:
        return run_in<Real<float>>(pointers);
      case DType::f64:
        return run_in<Real<double>>(pointers);
      case DType::c64:
        return run_in<Complex<float>>(pointers);
      case DType::c128:
        return run_in<Complex<double>>(pointers);
    }
  }

 private:
  template <class V>
  void run_in(const StepPointers& pointers) const {
    const V alpha = V::of(pointers.alpha[0], pointers.alpha[1]);
    BlockTree<V> tree;
    Odometer output(output_);
    do {
      const auto& at = output.offsets();
      V sum = total(tree, pointers.a + at[kA], unary_ ? nullptr : pointers.b + at[kB]);
      if (alpha_ == AlphaClass::general) sum = alpha * sum;
      finish(sum, pointers, pointers.c + at[kC]);
    } while (output.advance());
  }

  template <class V>
  V total(BlockTree<V>& tree, const std::byte* a, const std::byte* b) const {
    if (empty_sum_) return V{};
    Odometer summed(summed_);
    for (bool more = true; more;) {
      V block{};
      for (std::size_t n = 0; n < kChain && more; ++n, more = summed.advance()) {
        const auto& at = summed.offsets();
        V term = load<V>(types_[kA], a + at[kA]);
        if (conj_[kA]) term.conjugate();
        if (b != nullptr) {
          V factor = load<V>(types_[kB], b + at[kB]);
          if (conj_[kB]) factor.conjugate();
          term = term * factor;
        }
        block = n == 0 ? term : block + term;
      }
      tree.add(block);
    }
    return tree.take_total();
  }

  /// Converts to the type of c, once, and adds beta · c in that type.
  template <class V>
  void finish(V sum, const StepPointers& pointers, std::byte* c) const {
    double im = 0;
    if constexpr (requires { sum.im; }) im = sum.im;
    switch (types_[kC]) {
      case DType::f32:
        return finish_as(Real<float>::of(sum.re, im), pointers, c);
      case DType::f64:
        return finish_as(Real<double>::of(sum.re, im), pointers, c);
      case DType::c64:
        return finish_as(Complex<float>::of(sum.re, im), pointers, c);
      case DType::c128:
        return finish_as(Complex<double>::of(sum.re, im), pointers, c);
    }
  }
  template <class W>
  void finish_as(W value, const StepPointers& pointers, std::byte* c) const {
    if (beta_ != BetaClass::zero) {
      const W old = load<W>(types_[kC], c);
      const W beta = W::of(pointers.beta[0], pointers.beta[1]);
      value = value + (beta_ == BetaClass::one ? old : beta * old);
    }
    store(value, c);
  }

  DType compute_;
  std::array<DType, 3> types_{};
  std::array<bool, 2> conj_{};
  bool unary_;
  AlphaClass alpha_;
  BetaClass beta_;
  bool nothing_to_write_ = false, empty_sum_ = false;
  std::vector<LabelLoop> output_, summed_;
};

ReferenceStep::ReferenceStep(const Plan& plan, const Step& step)
    : compute_(step.kernel.compute),
      unary_(step.b < 0),
      alpha_(step.kernel.alpha),
      beta_(step.kernel.beta) {
  const std::array<std::int32_t, 3> numbers{step.a, step.b, step.c};
  const auto tensor = [&](std::size_t t) -> const PlanTensor& {
    return plan.tensors.at(static_cast<std::size_t>(numbers[t]));
  };
  for (const std::size_t t : {2, 0, 1}) {  // c first: labels found later are summed
    if (numbers[t] < 0) continue;
    types_[t] = tensor(t).type;
    if (t != kC) conj_[t] = tensor(t).conj && is_complex(types_[t]);
    if (!(t == kC ? holds(types_[t], compute_) : holds(compute_, types_[t])))
      throw std::logic_error("reference: a step in " + std::string(einjit::name(compute_)) +
                             " meets a tensor of " + std::string(einjit::name(types_[t])));
  }
  const auto loop_over = [&](LabelId label) {
    LabelLoop loop{plan.contraction.extents.at(static_cast<std::size_t>(label)), {}};
    for (std::size_t t = 0; t < 3; ++t) {
      if (numbers[t] < 0) continue;
      const auto& labels = tensor(t).labels;
      const auto at = std::find(labels.begin(), labels.end(), label) - labels.begin();
      if (static_cast<std::size_t>(at) < labels.size())
        loop.strides[t] = tensor(t).strides.at(static_cast<std::size_t>(at)) *
                          static_cast<std::int64_t>(size_bytes(types_[t]));
    }
    return loop;
  };
  std::vector<LabelId> seen;
  for (const std::size_t t : {2, 0, 1}) {
    if (numbers[t] < 0) continue;
    for (const LabelId label : tensor(t).labels) {
      if (std::find(seen.begin(), seen.end(), label) != seen.end()) continue;
      seen.push_back(label);
      const LabelLoop loop = loop_over(label);
      if (loop.extent == 0) (t == kC ? nothing_to_write_ : empty_sum_) = true;
      if (loop.extent > 1) (t == kC ? output_ : summed_).push_back(loop);
    }
  }
  if (std::max(output_.size(), summed_.size()) > kMostAxes && !nothing_to_write_ && !empty_sum_)
    throw Error(ErrorCode::unsupported,
                "a step over " + std::to_string(std::max(output_.size(), summed_.size())) +
                    " labels of extent 2 or more has over 2^63 iterations: no backend ends it");
}

class ReferenceBackend final : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  Capabilities capabilities() const override {
    return {.ignores_old_content = true, .keeps_unwritten = true};
  }
  std::unique_ptr<PreparedStep> prepare(const Plan& plan, const Step& step) override {
    if (step.kind != StepKind::contract) return nullptr;
    return std::make_unique<ReferenceStep>(plan, step);
  }
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace einjit
