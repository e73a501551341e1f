// Plans with their kernels bound: prepare once, run often.
#include <string>
#include <utility>

#include "runtime/engine_impl.h"
#include "runtime/out_of_memory.h"
#include "runtime/prepared_plan_impl.h"

namespace einjit {
namespace {

[[noreturn]] void differs(const std::string& who, const std::string& what, std::int64_t prepared,
                          std::int64_t found) {
  throw Error(ErrorCode::invalid_argument, who + ": " + what + " is " + std::to_string(found) +
                                               ", the plan was prepared for " +
                                               std::to_string(prepared));
}

void check_layout(const Layout& prepared, DType type, const Dims& extents, const Dims& strides,
                  std::int64_t operand) {
  const auto who = [&] {
    return operand < 0 ? std::string("the destination") : "operand " + std::to_string(operand);
  };
  if (type != prepared.type)
    throw Error(ErrorCode::invalid_argument, who() + " holds " + std::string(name(type)) +
                                                 ", the plan was prepared for " +
                                                 std::string(name(prepared.type)));
  const std::size_t rank = prepared.extents.size();
  if (extents.size() != rank || strides.size() != rank)
    differs(who(), "the rank", static_cast<std::int64_t>(rank),
            static_cast<std::int64_t>(extents.size() != rank ? extents.size() : strides.size()));
  for (std::size_t i = 0; i < rank; ++i) {
    if (extents[i] != prepared.extents[i])
      differs(who(), "the extent of axis " + std::to_string(i), prepared.extents[i], extents[i]);
    if (extents[i] != 1 && strides[i] != prepared.strides[i])
      differs(who(), "the stride of axis " + std::to_string(i), prepared.strides[i], strides[i]);
  }
}

Reach reach_of(const Layout& layout) {
  return einjit::reach_of(layout.type, layout.extents, layout.strides);
}

std::vector<Reach> reaches_of(const std::vector<Layout>& layouts) {
  std::vector<Reach> reaches;
  for (const Layout& layout : layouts) reaches.push_back(reach_of(layout));
  return reaches;
}

}  // namespace

ScalarClass scalar_class(std::complex<double> value) {
  if (value == 0.0) return ScalarClass::zero;
  return value == 1.0 ? ScalarClass::one : ScalarClass::general;
}

PreparedPlan::Impl::Impl(Plan plan, std::vector<Layout> operands, PreparedSteps prepared)
    : plan_(std::move(plan)),
      operands_(std::move(operands)),
      reaches_(reaches_of(operands_)),
      destination_reach_(reach_of(plan_.destination)),
      ignores_old_content_(prepared.ignores_old_content),
      executor_(plan_, std::move(prepared.steps)) {}

std::shared_ptr<const PreparedPlan::Impl> PreparedPlan::Impl::make(const ExecContext& context,
                                                                   Plan plan,
                                                                   std::vector<Layout> operands) {
  PreparedSteps prepared = prepare_steps(
      plan,
      [&](std::string_view name) -> Backend& { return context.engine().impl().backend(name); },
      context.stop());
  return std::shared_ptr<const Impl>(
      new Impl(std::move(plan), std::move(operands), std::move(prepared)));
}

void PreparedPlan::Impl::check_layouts(Operands operands, const Destination& destination) const {
  if (operands.size() != operands_.size())
    throw Error(ErrorCode::operand_count_mismatch,
                "the plan was prepared for " + std::to_string(operands_.size()) +
                    " operands, found " + std::to_string(operands.size()));
  for (std::size_t i = 0; i < operands.size(); ++i) {
    check_layout(operands_[i], operands[i].type, operands[i].extents, operands[i].strides,
                 static_cast<std::int64_t>(i));
    if (operands_[i].conj != (operands[i].conj && is_complex(operands[i].type)))
      throw Error(ErrorCode::invalid_argument,
                  "operand " + std::to_string(i) + (operands_[i].conj ? " is not" : " is") +
                      " conjugated, unlike the one the plan was prepared for");
  }
  check_layout(plan_.destination, destination.type, destination.extents, destination.strides, -1);
}

void PreparedPlan::Impl::check_scalars(Scalars scalars, const Destination& destination) const {
  if (scalar_class(scalars.alpha) != plan_.alpha || scalar_class(scalars.beta) != plan_.beta)
    throw Error(
        ErrorCode::invalid_argument,
        "alpha and beta must be of the classes (0, 1, other) that the plan was prepared for");
  if (!is_complex(plan_.result) &&
      (scalars.alpha.imag() != 0 || (scalars.beta.imag() != 0 && !is_complex(destination.type))))
    throw Error(ErrorCode::invalid_argument, "alpha and beta must be real where the result is");
  if (!destination.initialized && plan_.beta != ScalarClass::zero)
    throw Error(ErrorCode::invalid_argument,
                "beta must be 0 where the destination is uninitialized");
  if (!destination.initialized && !ignores_old_content_)
    throw Error(ErrorCode::unsupported, "the plan's backend may read an uninitialized destination");
}

WriteReceipt PreparedPlan::Impl::execute(const ExecContext& context, Operands operands,
                                         const Destination& destination, Scalars scalars) const {
  const std::optional<WriteReceipt> before = WriteReceipt::of(destination);
  if (plan_.arena_bytes == 0)
    return executor_.run(context, {operands, destination.data, before, nullptr}, scalars)
        .destination;
  auto arena = context.engine().impl().pool().acquire(plan_.arena_bytes);
  const Executor::Written written =
      executor_.run(context, {operands, destination.data, before, arena.data()}, scalars);
  std::move(arena).finish(written.arena);
  return written.destination;
}

const Plan& PreparedPlan::plan() const { return impl_->plan(); }
std::string PreparedPlan::explain() const { return einjit::explain(impl_->plan()); }

std::vector<TraceStep> PreparedPlan::trace() const {
  return with_typed_memory_errors([&] {
    std::vector<TraceStep> out;
    for (const auto& step : impl_->executor().steps())
      out.push_back({static_cast<std::int32_t>(out.size()), step->backend(), step->tiles()});
    return out;
  });
}

void PreparedPlan::run(const ExecContext& context, Operands operands,
                       const Destination& destination, Scalars scalars) const {
  with_typed_memory_errors([&] {
    impl_->check_layouts(operands, destination);
    impl_->check_addresses(operands, destination);
    impl_->check_scalars(scalars, destination);
    impl_->execute(context, operands, destination, scalars);
  });
}

class BoundCall::Impl {
 public:
  Impl(const ExecContext& context, std::shared_ptr<const PreparedPlan::Impl> plan,
       Operands operands, const Destination& destination, Scalars scalars)
      : context_(context),
        plan_(std::move(plan)),
        operands_(operands.begin(), operands.end()),
        destination_(destination),
        scalars_(scalars) {}
  void run() const { plan_->execute(context_, operands_, destination_, scalars_); }

 private:
  const ExecContext context_;
  const std::shared_ptr<const PreparedPlan::Impl> plan_;
  const std::vector<Operand> operands_;
  const Destination destination_;
  const Scalars scalars_;
};

BoundCall PreparedPlan::bind(const ExecContext& context, Operands operands,
                             const Destination& destination, Scalars scalars) const {
  return with_typed_memory_errors([&] {
    impl_->check_layouts(operands, destination);
    impl_->check_addresses(operands, destination);
    impl_->check_scalars(scalars, destination);
    return BoundCall(
        std::make_unique<BoundCall::Impl>(context, impl_, operands, destination, scalars));
  });
}

BoundCall::BoundCall(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BoundCall::BoundCall(BoundCall&&) noexcept = default;
BoundCall& BoundCall::operator=(BoundCall&&) noexcept = default;
BoundCall::~BoundCall() = default;
void BoundCall::operator()() const {
  with_typed_memory_errors([&] { impl_->run(); });
}

}  // namespace einjit
