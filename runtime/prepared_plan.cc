// Plans with their kernels bound: prepare once, run often.
#include <string>
#include <utility>

#include "einjit/error.h"
#include "runtime/engine_impl.h"
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

/// What the quick check compares: everything about one tensor in one place.
Expected expected_of(const Layout& layout) {
  const Reach reach = reach_of(layout);
  constexpr __int128 kNear = __int128{1} << 61;  // so that no sum of two passes 2^63
  const bool quick = !reach.empty && -reach.low < kNear && reach.high < kNear;
  if (!quick) return {};
  std::vector<std::int64_t> matters;
  for (const std::int64_t extent : layout.extents) matters.push_back(extent == 1 ? 0 : -1);
  return {layout.extents.data(),
          layout.strides.data(),
          std::move(matters),
          layout.extents.size(),
          static_cast<std::int64_t>(reach.low),
          static_cast<std::int64_t>(reach.high),
          layout.type,
          layout.conj};
}

/// An address as a number that can be compared: none is near 2^63.
std::int64_t address_of(const std::byte* p) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p));
}

/// The very layout, inside its bounds; [low, high) becomes its range of addresses.
template <class X>
inline bool matches(const Expected& e, const X& x, std::int64_t& low, std::int64_t& high) {
  if (x.type != e.type || x.extents.size() != e.rank || x.strides.size() != e.rank) return false;
  const std::int64_t *extents = x.extents.data(), *strides = x.strides.data();
  std::int64_t different = 0;
  for (std::size_t i = 0; i < e.rank; ++i)
    different |= (extents[i] ^ e.extents[i]) | ((strides[i] ^ e.strides[i]) & e.matters[i]);
  const std::int64_t at = address_of(x.data);
  low = at + e.low;
  high = at + e.high;
  if (x.bounds.begin != nullptr &&
      (low < address_of(x.bounds.begin) || high > address_of(x.bounds.end)))
    return false;
  return different == 0 && at > 0 && low >= 0 && high > 0;
}

std::vector<Reach> reaches_of(const std::vector<Layout>& layouts) {
  std::vector<Reach> reaches;
  for (const Layout& layout : layouts) reaches.push_back(reach_of(layout));
  return reaches;
}

std::vector<Expected> expected_of_all(const std::vector<Layout>& layouts) {
  std::vector<Expected> all;
  for (const Layout& layout : layouts) all.push_back(expected_of(layout));
  return all;
}

/// About what a prepared plan keeps of the heap: its lists and the tables of its steps.
std::int64_t held_bytes(const Plan& plan, const Executor& executor) {
  std::size_t bytes = sizeof(PreparedPlan::Impl);
  for (const auto& axes : plan.contraction.axes) bytes += 24 + axes.size() * 12;
  for (const PlanTensor& t : plan.tensors) bytes += sizeof t + t.labels.size() * 12;
  for (const Step& step : plan.steps) {
    bytes += sizeof step;
    for (const auto& group : step.geometry) bytes += group.size() * sizeof(StepAxis);
  }
  std::int64_t tables = 0;
  for (const auto& step : executor.steps()) tables += step->bytes();
  return static_cast<std::int64_t>(bytes) + tables;
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
      expected_(expected_of_all(operands_)),
      expected_destination_(expected_of(plan_.destination)),
      ignores_old_content_(prepared.ignores_old_content),
      plain_(ignores_old_content_ && plan_.alpha == ScalarClass::one &&
             plan_.beta == ScalarClass::zero),
      executor_(plan_, std::move(prepared.steps)),
      bytes_(held_bytes(plan_, executor_)) {}

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

bool PreparedPlan::Impl::is_plainly_right(Operands operands, const Destination& destination) const {
  std::int64_t out_low = 0, out_high = 0, low = 0, high = 0;
  if (operands.size() != expected_.size() ||
      !matches(expected_destination_, destination, out_low, out_high))
    return false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& o = operands[i];
    if (!matches(expected_[i], o, low, high) || (low < out_high && out_low < high) ||
        (o.conj && is_complex(o.type)) != expected_[i].conj)
      return false;
  }
  return true;
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
    if (!impl_->is_plainly_right(operands, destination)) {
      impl_->check_layouts(operands, destination);
      impl_->check_addresses(operands, destination);
    }
    if (!impl_->is_plain(scalars)) impl_->check_scalars(scalars, destination);
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
        scalars_(scalars) {
    const bool serial =
        context.policy() == ThreadPolicy::serial || !plan_->executor().is_parallel();
    if (serial && plan_->plan().arena_bytes == 0 && !context.stop().stop_possible())
      calls_ = plan_->executor().direct_calls(
          {operands_, destination_.data, WriteReceipt::of(destination_), nullptr}, scalars_);
  }
  void run() const {
    if (calls_.empty()) {
      plan_->execute(context_, operands_, destination_, scalars_);
      return;
    }
    for (const DirectCall& call : calls_) call.entry(&call.args);
  }

 private:
  const ExecContext context_;
  const std::shared_ptr<const PreparedPlan::Impl> plan_;
  const std::vector<Operand> operands_;
  const Destination destination_;
  const Scalars scalars_;
  std::vector<DirectCall> calls_;  // empty: through the executor
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
