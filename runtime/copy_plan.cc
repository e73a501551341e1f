// A copy is a contraction of one operand in which no label is summed.
//
// alpha's classes are three plans: 0 is a fill (nothing is read), 1 multiplies nothing (infinities
// stay what they are in complex elements too), any other is a factor.
#include "einjit/copy_plan.h"

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/prepared_plan_impl.h"

namespace einjit {

CopyPlan CopyPlan::make(const ExecContext& context, const Layout& source, const Layout& destination,
                        CopyKind kind, const EinsumOptions& options) {
  CopyPlan copy(ExecContext::serial(context.engine()).with_stop(context.stop()));
  std::vector<Label> labels(source.extents.size());
  std::iota(labels.begin(), labels.end(), 0);
  const Expression expression = make_expression({labels}, labels);
  constexpr std::complex<double> kClasses[] = {0, 1, 2};
  for (const std::complex<double> alpha : kClasses) {
    const ScalarClass c = scalar_class(alpha);
    if (kind == CopyKind::plain && c != ScalarClass::one) continue;
    PreparedPlan& made = copy.plans_[static_cast<std::size_t>(c)].emplace(prepare(
        copy.serial_, expression, {&source, 1}, destination, Scalars{alpha, {0, 0}}, options));
    if (made.plan().arena_bytes != 0)
      throw std::logic_error("a copy needs scratch storage of " +
                             std::to_string(made.plan().arena_bytes) + " bytes, where 0 are meant");
  }
  return copy;
}

void CopyPlan::run(const Operand& source, const Destination& destination,
                   std::complex<double> alpha) const {
  const auto& plan = plans_[static_cast<std::size_t>(scalar_class(alpha))];
  if (!plan)
    throw Error(ErrorCode::invalid_argument, "a plain copy takes alpha = 1 only; make it scaled");
  plan->run(serial_, {&source, 1}, destination, Scalars{alpha, {0, 0}});
}

}  // namespace einjit
