// The public entry points: expression and views → key → prepared plan → run.
#include "einjit/einsum.h"

#include <algorithm>
#include <string>

#include "einjit/error.h"
#include "planner/word_list.h"
#include "runtime/engine_impl.h"
#include "runtime/prepared_plan_impl.h"
#include "runtime/storage.h"
#include "runtime/tensor_maker.h"
#include "runtime/validate.h"

namespace einjit {
namespace {

Contraction resolved(const AnyExpression& expression,
                     std::span<const std::span<const std::int64_t>> shapes,
                     const EinsumOptions& options) {
  if (const Expression* e = expression.expression()) return resolve(*e, shapes, options.sizes);
  return resolve(parse(expression.text()), shapes, options.sizes);
}

void check_scalar_values(const Scalars& scalars, DType result, DType destination) {
  if (!is_complex(result) && scalars.alpha.imag() != 0)
    throw Error(ErrorCode::invalid_argument,
                "alpha has an imaginary part and the result is " + std::string(name(result)));
  if (!is_complex(result) && !is_complex(destination) && scalars.beta.imag() != 0)
    throw Error(ErrorCode::invalid_argument,
                "beta has an imaginary part and the result is " + std::string(name(result)));
}

void check_uninitialized_beta(const Destination& destination, const Scalars& scalars) {
  if (!destination.initialized && scalars.beta != 0.0)
    throw Error(ErrorCode::invalid_argument,
                "beta must be 0 where the destination is uninitialized");
}

/// One call on its way to a plan: the key, and the labels' names for sentences.
struct Request {
  PlanKey key;
  std::vector<std::string> names;
};

/// What the cache knows a call by before it is parsed: everything that decides the plan, as it was
/// written. The words live in a list of this thread's until the next call on it.
template <class Views, class Out>
std::span<const std::uint64_t> signature_of(const ExecContext& context,
                                            const AnyExpression& expression, const Views& operands,
                                            const Out* destination, const Scalars& scalars,
                                            const EinsumOptions& options) {
  static thread_local std::vector<std::uint64_t> words;
  WordList w(words);
  if (const Expression* e = expression.expression()) {
    w.add(0);
    w.add(e->inputs.size());
    for (const auto& term : e->inputs) w.add_all(term);
    w.add(e->output.has_value());
    if (e->output) w.add_all(*e->output);
    w.add(e->nesting.groups.size());
    for (const auto& group : e->nesting.groups) w.add_all(group);
  } else {
    w.add(1);
    w.add_text(expression.text());
  }
  w.add(operands.size());
  for (const auto& o : operands) w.add_layout(o.type, o.conj, o.extents, o.strides);
  w.add(destination != nullptr);
  if (destination != nullptr)
    w.add_layout(destination->type, false, destination->extents, destination->strides);
  w.add(static_cast<std::uint64_t>(scalar_class(scalars.alpha)) << 8 |
        static_cast<std::uint64_t>(scalar_class(scalars.beta)));
  w.add_options(options);
  w.add(options.sizes.size());
  for (const LabelExtent& size : options.sizes) {
    w.add(static_cast<std::uint64_t>(size.label));
    w.add(static_cast<std::uint64_t>(size.extent));
  }
  w.add(context.memory_limit_bytes().has_value());
  if (const auto limit = context.memory_limit_bytes()) {
    w.add(std::bit_cast<std::uint64_t>(*limit));
    w.add(static_cast<std::uint64_t>(context.threads()));
  }
  // Another BLAS may have been registered meanwhile; its text is one of the Engine's, for good.
  w.add(reinterpret_cast<std::uintptr_t>(&context.engine().impl().machine_text()));
  return words;
}

Request make_request(const ExecContext& context, Contraction contraction,
                     std::vector<Layout> operands, Layout destination, const Scalars& scalars,
                     const EinsumOptions& options) {
  Request r;
  r.names = std::move(contraction.names);
  contraction.names.clear();
  r.key.contraction = std::move(contraction);
  r.key.operands = std::move(operands);
  r.key.destination = std::move(destination);
  r.key.alpha = scalar_class(scalars.alpha);
  r.key.beta = scalar_class(scalars.beta);
  r.key.options = options;  // the base part
  if (context.memory_limit_bytes() && !r.key.options.memory_limit_bytes)
    r.key.options.memory_limit_bytes = context.memory_limit_bytes();
  if (r.key.options.memory_limit_bytes) r.key.options.threads = context.threads();
  r.key.machine = context.engine().impl().machine_text();
  return r;
}

Plan planned(const ExecContext& context, const Request& r) {
  SearchBudget budget{r.key.options.seed, {}};
  if (context.stop().stop_possible()) budget.stop = [&] { return context.stop().stop_requested(); };
  Plan plan = make_plan(r.key, context.engine().machine(), budget, r.names);
#ifndef NDEBUG
  verify(plan);
#endif
  return plan;
}

/// The plan of a request, from the cache or made for it. `signature`: of the call that led here.
PlanCache::Value prepared(const ExecContext& context, Request r,
                          std::span<const std::uint64_t> signature) {
  PlanCache::Request wanted{words_of(r.key), {signature.begin(), signature.end()}, r.names};
  return context.engine().impl().plans().get(
      std::move(wanted),
      [&] { return PreparedPlan::Impl::make(context, planned(context, r), r.key.operands); },
      context.stop());
}

std::vector<Layout> layouts_of(Operands operands) {
  std::vector<Layout> layouts;
  layouts.reserve(operands.size());
  for (const Operand& o : operands) layouts.push_back(layout_of(o));
  return layouts;
}

std::vector<std::span<const std::int64_t>> shapes_of(std::span<const Layout> layouts) {
  std::vector<std::span<const std::int64_t>> shapes;
  for (const Layout& l : layouts) shapes.emplace_back(l.extents);
  return shapes;
}

DType result_type(std::span<const Layout> layouts, DType otherwise = DType::f64) {
  if (layouts.empty()) return otherwise;
  DType type = layouts.front().type;
  for (const Layout& l : layouts) type = promote(type, l.type);
  return type;
}

/// Strides mean nothing on axes of extent 1; a layout for a key has 0 there.
Layout key_layout(Layout layout, const std::string& who) {
  if (layout.extents.size() != layout.strides.size())
    throw Error(ErrorCode::rank_mismatch, who + " has " + std::to_string(layout.extents.size()) +
                                              " extents and " +
                                              std::to_string(layout.strides.size()) + " strides");
  layout.conj = layout.conj && is_complex(layout.type);
  for (std::size_t i = 0; i < layout.extents.size(); ++i)
    if (layout.extents[i] == 1) layout.strides[i] = 0;
  return layout;
}

Request request_of_layouts(const ExecContext& context, const AnyExpression& expression,
                           std::span<const Layout> operands,
                           const std::optional<Layout>& destination, const Scalars& scalars,
                           const EinsumOptions& options) {
  Contraction contraction = resolved(expression, shapes_of(operands), options);
  std::vector<Layout> layouts;
  for (std::size_t i = 0; i < operands.size(); ++i)
    layouts.push_back(key_layout(operands[i], "operand " + std::to_string(i)));
  const DType result = result_type(layouts);
  const std::vector<std::int64_t> shape = contraction.output_shape();
  Layout out =
      destination ? key_layout(*destination, "the destination") : dense_layout(result, Dims(shape));
  check_scalar_values(scalars, result, out.type);
  check_destination_layout(out.type, out.extents, out.strides, shape, result);
  return make_request(context, std::move(contraction), std::move(layouts), std::move(out), scalars,
                      options);
}

}  // namespace

Plan plan(const ExecContext& context, AnyExpression expression, std::span<const Layout> operands,
          const std::optional<Layout>& destination, Scalars scalars, const EinsumOptions& options) {
  return with_typed_memory_errors([&] {
    return planned(
        context, request_of_layouts(context, expression, operands, destination, scalars, options));
  });
}

PreparedPlan prepare(const ExecContext& context, AnyExpression expression,
                     std::span<const Layout> operands, const std::optional<Layout>& destination,
                     Scalars scalars, const EinsumOptions& options) {
  return with_typed_memory_errors([&] {
    const auto signature = signature_of(context, expression, operands,
                                        destination ? &*destination : nullptr, scalars, options);
    PlanCache::Value plan = context.engine().impl().plans().find(signature);
    if (!plan) {
      const std::vector<std::uint64_t> kept(signature.begin(), signature.end());
      plan = prepared(
          context, request_of_layouts(context, expression, operands, destination, scalars, options),
          kept);
    }
    return PreparedPlan(std::move(plan));
  });
}

void einsum_into(const ExecContext& context, AnyExpression expression,
                 const Destination& destination, Operands operands, Scalars scalars,
                 const EinsumOptions& options) {
  with_typed_memory_errors([&] {
    const auto signature =
        signature_of(context, expression, operands, &destination, scalars, options);
    PlanCache::Value plan = context.engine().impl().plans().find(signature);
    if (plan) {
      if (!plan->is_plainly_right(operands, destination))
        plan->check_addresses(operands, destination);
    } else {
      std::vector<Layout> layouts = layouts_of(operands);
      Contraction contraction = resolved(expression, shapes_of(layouts), options);
      const DType result = result_type(layouts);
      check_views(operands, destination, contraction.output_shape(), result);
      check_scalar_values(scalars, result, destination.type);
      check_uninitialized_beta(destination, scalars);
      Layout out{destination.type,
                 {destination.extents.begin(), destination.extents.end()},
                 {destination.strides.begin(), destination.strides.end()},
                 false};
      plan = prepared(context,
                      make_request(context, std::move(contraction), std::move(layouts),
                                   key_layout(std::move(out), "the destination"), scalars, options),
                      signature);
    }
    if (!plan->is_plain(scalars)) plan->check_scalars(scalars, destination);
    plan->execute(context, operands, destination, scalars);
  });
}

Tensor einsum(const ExecContext& context, AnyExpression expression, Operands operands,
              const EinsumOptions& options) {
  return with_typed_memory_errors([&] {
    const auto signature =
        signature_of<Operands, Destination>(context, expression, operands, nullptr, {}, options);
    PlanCache::Value plan = context.engine().impl().plans().find(signature);
    if (!plan) {
      std::vector<Layout> layouts = layouts_of(operands);
      Contraction contraction = resolved(expression, shapes_of(layouts), options);
      const DType result = result_type(layouts);
      const Dims shape(contraction.output_shape());
      checked_elements(shape, result);
      check_operand_bounds(operands);
      plan = prepared(context,
                      make_request(context, std::move(contraction), std::move(layouts),
                                   dense_layout(result, shape), {}, options),
                      signature);
    }
    const Layout& out = plan->plan().destination;
    TensorMaker maker(out.type, Dims(out.extents));
    const Destination destination = maker.destination();
    if (!plan->is_plainly_right(operands, destination))
      plan->check_addresses(operands, destination);
    if (!plan->is_plain({})) plan->check_scalars({}, destination);
    return std::move(maker).finish(plan->execute(context, operands, destination, {}));
  });
}

}  // namespace einjit
