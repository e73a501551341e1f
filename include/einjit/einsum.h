// The entry points: einsum, einsum_into, prepare, run, bind.
//
//   Engine engine = Engine::make();
//   Tensor c = einsum(ExecContext::serial(engine), "ij,jk->ik", View(a, {64, 32}), View(b, {32,
//   16}));
//
// Checks come in the order of SPEC and have no effect; what fails after work has begun leaves an
// initialized destination unspecified and an uninitialized one uninitialized. Codes: see Error.
#pragma once

#include <complex>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "einjit/engine.h"
#include "einjit/error.h"
#include "einjit/expression.h"
#include "einjit/plan.h"
#include "einjit/tensor.h"
#include "einjit/view.h"

namespace einjit {

using Operands = std::span<const Operand>;

struct EinsumOptions : PlanOptions {
  std::vector<LabelExtent> sizes;  // extents of labels that no operand holds
};

/// destination = alpha · einsum(…) + beta · destination. 0 means "not read", never a
/// multiplication.
struct Scalars {
  std::complex<double> alpha{1, 0};
  std::complex<double> beta{0, 0};
};

/// An expression in either form.
class AnyExpression {
 public:
  AnyExpression(const char* text) : text_(text) {}
  AnyExpression(std::string_view text) : text_(text) {}
  AnyExpression(const std::string& text) : text_(text) {}
  AnyExpression(const Expression& expression) : expression_(&expression) {}
  std::string_view text() const { return text_; }
  const Expression* expression() const { return expression_; }

 private:
  std::string_view text_;
  const Expression* expression_ = nullptr;
};

/// A new tensor with the result, of the smallest type that holds all operands.
Tensor einsum(const ExecContext& context, AnyExpression expression, Operands operands,
              const EinsumOptions& options = {});
inline Tensor einsum(const ExecContext& context, AnyExpression expression,
                     std::initializer_list<Operand> operands, const EinsumOptions& options = {}) {
  return einsum(context, expression, Operands(operands.begin(), operands.size()), options);
}
template <class... X>
  requires(sizeof...(X) > 0 && (std::is_constructible_v<Operand, const X&> && ...))
Tensor einsum(const ExecContext& context, AnyExpression expression, const X&... operands) {
  const Operand all[] = {Operand(operands)...};
  return einsum(context, expression, Operands(all), {});
}

/// The type-erased form that the others call. With an uninitialized destination beta must be 0.
void einsum_into(const ExecContext& context, AnyExpression expression,
                 const Destination& destination, Operands operands, Scalars scalars,
                 const EinsumOptions& options);

/// Writes into initialized storage.
template <Element T>
void einsum_into(const ExecContext& context, AnyExpression expression, MutableView<T> destination,
                 std::initializer_list<Operand> operands, Scalars scalars = {},
                 const EinsumOptions& options = {}) {
  einsum_into(context, expression, Destination(destination),
              Operands(operands.begin(), operands.size()), scalars, options);
}
/// Fills storage that has no value yet and returns the view through which it may be read.
template <Element T>
[[nodiscard]] MutableView<T> einsum_into(const ExecContext& context, AnyExpression expression,
                                         const UninitView<T>& destination,
                                         std::initializer_list<Operand> operands,
                                         std::complex<double> alpha = {1, 0},
                                         const EinsumOptions& options = {}) {
  const Destination d(destination);
  einsum_into(context, expression, d, Operands(operands.begin(), operands.size()),
              Scalars{alpha, {0, 0}}, options);
  return MutableView<T>(reinterpret_cast<T*>(d.data), destination.extents(), destination.strides());
}

/// What ran: one line a step.
struct TraceStep {
  std::int32_t step = 0;
  std::string_view backend;  // the one that ran, which may be a fallback of the plan's choice
  std::int64_t tiles = 1;
};

/// Buffers checked once and for all: calling it costs the kernels' own time. Holds pointers into
/// the bound buffers and keeps the prepared plan alive; the Engine must outlive it.
class BoundCall {
 public:
  BoundCall(BoundCall&&) noexcept;
  BoundCall& operator=(BoundCall&&) noexcept;
  ~BoundCall();
  void operator()() const;

  class Impl;
  explicit BoundCall(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

/// A plan with its kernels bound. Immutable; runs of one PreparedPlan may overlap in time.
class PreparedPlan {
 public:
  const Plan& plan() const;
  /// Tree, per-step form, m/n/k/batch, backend, flops, bytes, predicted time, permutations.
  std::string explain() const;
  std::vector<TraceStep> trace() const;  // what a run runs

  /// Operands and destination must have exactly the prepared extents and strides, else
  /// invalid_argument naming the axis. Scalars must be of the prepared classes (0, 1, other).
  void run(const ExecContext& context, Operands operands, const Destination& destination,
           Scalars scalars = {}) const;
  template <Element T>
  [[nodiscard]] MutableView<T> run(const ExecContext& context,
                                   std::initializer_list<Operand> operands,
                                   const UninitView<T>& destination) const {
    const Destination d(destination);
    run(context, Operands(operands.begin(), operands.size()), d);
    return MutableView<T>(reinterpret_cast<T*>(d.data), destination.extents(),
                          destination.strides());
  }
  template <Element T>
  void run(const ExecContext& context, std::initializer_list<Operand> operands,
           MutableView<T> destination, Scalars scalars = {}) const {
    run(context, Operands(operands.begin(), operands.size()), Destination(destination), scalars);
  }
  BoundCall bind(const ExecContext& context, Operands operands, const Destination& destination,
                 Scalars scalars = {}) const;

  class Impl;
  explicit PreparedPlan(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

/// Plans and compiles for operands of these layouts. Without a destination layout: dense,
/// row-major, of the result type. The alpha and beta given only say their class.
PreparedPlan prepare(const ExecContext& context, AnyExpression expression,
                     std::span<const Layout> operands,
                     const std::optional<Layout>& destination = {}, Scalars scalars = {},
                     const EinsumOptions& options = {});

/// Plans without preparing: what `einjit plan` prints. Opens neither LLVM nor a BLAS.
Plan plan(const ExecContext& context, AnyExpression expression, std::span<const Layout> operands,
          const std::optional<Layout>& destination = {}, Scalars scalars = {},
          const EinsumOptions& options = {});

/// Dense row-major layout.
Layout dense_layout(DType type, Dims extents);
Layout layout_of(const Operand& operand);

}  // namespace einjit
