// A plan, its executor, and what a run compares its arguments with.
#pragma once

#include "einjit/einsum.h"
#include "runtime/executor.h"
#include "runtime/prepare_steps.h"
#include "runtime/validate.h"

namespace einjit {

class PreparedPlan::Impl {
 public:
  /// Makes or compiles what the steps need.
  static std::shared_ptr<const Impl> make(const ExecContext& context, Plan plan,
                                          std::vector<Layout> operands);

  const Plan& plan() const { return plan_; }
  const Executor& executor() const { return executor_; }
  /// The types, extents, strides and conj flags are exactly the prepared ones, else
  /// invalid_argument.
  void check_layouts(Operands operands, const Destination& destination) const;
  /// Scalars of the prepared classes; a destination without a value is not read.
  void check_scalars(Scalars scalars, const Destination& destination) const;
  std::int64_t bytes() const { return bytes_; }  // of memory held, beside kernels
  void check_addresses(Operands operands, const Destination& destination) const {
    einjit::check_addresses(operands, reaches_, destination, destination_reach_);
  }
  /// Everything has been checked: takes the arena and runs. The receipt is the destination's.
  WriteReceipt execute(const ExecContext& context, Operands operands,
                       const Destination& destination, Scalars scalars) const;

 private:
  Impl(Plan plan, std::vector<Layout> operands, PreparedSteps prepared);
  const Plan plan_;
  const std::vector<Layout> operands_;
  const std::vector<Reach> reaches_;  // of the operands
  const Reach destination_reach_;
  const bool ignores_old_content_;
  const Executor executor_;
  const std::int64_t bytes_;
};

ScalarClass scalar_class(std::complex<double> value);

}  // namespace einjit
