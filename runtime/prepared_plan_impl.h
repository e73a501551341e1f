// A plan, its executor, and what a run compares its arguments with.
#pragma once

#include "einjit/einsum.h"
#include "runtime/executor.h"
#include "runtime/prepare_steps.h"
#include "runtime/validate.h"

namespace einjit {

/// What a run compares one argument with before it takes the slow road.
/// One that is empty or reaches near 2^63 has a rank that nothing matches.
struct Expected {
  const std::int64_t* extents = nullptr;
  const std::int64_t* strides = nullptr;
  std::vector<std::int64_t> matters;  // 0: the axis has extent 1, its stride means nothing
  std::size_t rank = SIZE_MAX;
  std::int64_t low = 0, high = 0;  // bytes from index 0, [low, high)
  DType type = DType::f64;
  bool conj = false;
};

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
  /// check_layouts and check_addresses would pass. False says nothing: they decide.
  bool is_plainly_right(Operands operands, const Destination& destination) const;
  /// alpha 1 and beta 0, as prepared, into whatever destination: nothing to check.
  bool is_plain(const Scalars& scalars) const {
    return plain_ && scalars.alpha == 1.0 && scalars.beta == 0.0;
  }
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
  const std::vector<Expected> expected_;  // of the operands
  const Expected expected_destination_;
  const bool ignores_old_content_;
  const bool plain_;  // overwrites with the bare result
  const Executor executor_;
  const std::int64_t bytes_;
};

ScalarClass scalar_class(std::complex<double> value);

}  // namespace einjit
