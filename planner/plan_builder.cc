// A tree and layouts → tensors and steps.
//
// Operands lose what they alone hold by a one-operand step before their join; joins run in the
// order of planner/step_order.cc; the last step writes the destination. It is a step of its own
// where the destination is wider than the result or has labels that no operand holds. Invariant:
// holders_ counts, per label, the tensors not yet read that hold it (the output is one); at 0 a
// label is summed.
#include "planner/plan_builder.h"

#include <algorithm>

#include "planner/fuse.h"
#include "planner/intermediate_layout.h"
#include "planner/kernel_choice.h"
#include "planner/memory_plan.h"
#include "planner/simplify.h"
#include "planner/step_order.h"

namespace einjit {
namespace {

AlphaClass alpha_class(ScalarClass s) {
  return s == ScalarClass::one ? AlphaClass::one : AlphaClass::general;
}
BetaClass beta_class(ScalarClass s) { return static_cast<BetaClass>(s); }

class Builder {
 public:
  Builder(const PlanKey& key, ContractionTree tree, std::span<const std::string> names)
      : key_(key), names_(names) {
    plan_.contraction = key.contraction;
    plan_.contraction.names.clear();
    plan_.tree = std::move(tree);
    plan_.destination = key.destination;
    plan_.alpha = key.alpha;
    plan_.beta = key.beta;
    plan_.result = key.operands.front().type;
    for (const Layout& layout : key.operands) plan_.result = promote(plan_.result, layout.type);
    for (std::size_t i = 0; i < key.operands.size(); ++i) {
      plan_.tensors.push_back(merged_tensor(key.contraction.axes[i], key.operands[i], extents()));
      plan_.tensors.back().operand = static_cast<std::int32_t>(i);
    }
    destination_ = merged_tensor(key.contraction.output, key.destination, extents());
    destination_.place = Place::destination;
    destination_.conj = false;
  }

  Plan build() {
    const auto zero_extent = [&](LabelId l) { return extents()[static_cast<std::size_t>(l)] == 0; };
    const auto& output = plan_.contraction.output;
    const bool nothing_to_write = std::any_of(output.begin(), output.end(), zero_extent);
    const bool empty_sum = std::find(extents().begin(), extents().end(), 0) != extents().end();
    if (nothing_to_write) {
      plan_.tensors.push_back(destination_);
    } else if (plan_.alpha == ScalarClass::zero || empty_sum) {
      whole_destination(plan_.alpha == ScalarClass::zero ? FillReason::alpha_zero
                                                         : FillReason::empty_sum);
      plan_.tensors.push_back(destination_);
    } else {
      const Network network = network_of(key_.contraction);
      plan_.costs = cost_of(network, plan_.tree);
      if (writes_diagonal(plan_.contraction)) whole_destination(FillReason::off_diagonal);
      contract(network);
    }
    for (Step& step : plan_.steps)
      if (step.kind != StepKind::contract)
        step.c = static_cast<std::int32_t>(plan_.tensors.size()) - 1;
    finish_steps();
    assign_waves(plan_);
    assign_offsets(plan_);
    return std::move(plan_);
  }

 private:
  const std::vector<std::int64_t>& extents() const { return plan_.contraction.extents; }

  /// Zeros over the whole destination, or beta · destination; what follows then adds to it.
  void whole_destination(FillReason reason) {
    Step step;
    double elements = 1;
    for (const std::int64_t e : plan_.destination.extents) elements *= static_cast<double>(e);
    step.bytes = elements * static_cast<double>(size_bytes(plan_.destination.type));
    if (plan_.beta == ScalarClass::zero) {
      step.kind = StepKind::fill;
      step.reason = reason;
    } else if (plan_.beta == ScalarClass::general) {
      step.kind = StepKind::scale;
      step.bytes *= 2;
    } else {
      return;
    }
    plan_.steps.push_back(step);
  }

  void contract(const Network& network) {
    holders_.assign(extents().size(), 0);
    for (const PlanTensor& tensor : plan_.tensors)
      for (const LabelId label : tensor.labels) ++holder(label);
    for (const LabelId label : network.output) ++holder(label);
    const std::int32_t leaves = plan_.tree.leaves;
    std::vector<std::int32_t> tensor_of(static_cast<std::size_t>(leaves) + plan_.tree.joins.size());
    for (std::int32_t i = 0; i < leaves; ++i) tensor_of[static_cast<std::size_t>(i)] = i;
    const std::vector<std::int32_t> order = step_order(plan_.tree, network, extents());
    for (std::size_t n = 0; n < order.size(); ++n) {
      const ContractionTree::Join join = plan_.tree.joins[static_cast<std::size_t>(order[n])];
      std::array<std::int32_t, 2> pair{tensor_of[static_cast<std::size_t>(join.left)],
                                       tensor_of[static_cast<std::size_t>(join.right)]};
      for (std::int32_t& t : pair) t = without_own_labels(t);
      const bool last = n + 1 == order.size();
      tensor_of[static_cast<std::size_t>(leaves + order[n])] = join_step(pair[0], pair[1], last);
    }
    if (leaves == 1) join_step(0, -1, true);
  }

  std::int32_t& holder(LabelId label) { return holders_[static_cast<std::size_t>(label)]; }

  /// Labels that this operand alone holds are summed before it is joined.
  std::int32_t without_own_labels(std::int32_t t) {
    const PlanTensor& tensor = plan_.tensors[static_cast<std::size_t>(t)];
    if (tensor.place != Place::operand) return t;
    std::vector<LabelId> kept;
    for (const LabelId label : tensor.labels)
      if (holder(label) > 1) kept.push_back(label);
    if (kept.size() == tensor.labels.size()) return t;
    for (const LabelId label : tensor.labels)
      if (holder(label) == 1) holder(label) = 0;
    return add_step(t, -1, intermediate(kept, t, -1), AlphaClass::one, BetaClass::zero);
  }

  std::int32_t join_step(std::int32_t a, std::int32_t b, bool last) {
    std::vector<LabelId> kept;
    for (const std::int32_t t : {a, b}) {
      if (t < 0) continue;
      for (const LabelId label : plan_.tensors[static_cast<std::size_t>(t)].labels) --holder(label);
    }
    for (const std::int32_t t : {a, b}) {
      if (t < 0) continue;
      for (const LabelId label : plan_.tensors[static_cast<std::size_t>(t)].labels)
        if (holder(label) > 0 && std::find(kept.begin(), kept.end(), label) == kept.end())
          kept.push_back(label);
    }
    if (!last) {
      for (const LabelId label : kept) ++holder(label);
      return add_step(a, b, intermediate(kept, a, b), AlphaClass::one, BetaClass::zero);
    }
    const BetaClass beta = final_beta();
    // A copy widens as it stores; a sum is taken in the result's type, then converted.
    const bool widens = b < 0 && beta == BetaClass::zero && kept.size() == tensor(a)->labels.size();
    const bool direct =
        (destination_.type == plan_.result || widens) && kept.size() == destination_.labels.size();
    if (direct) return add_step(a, b, destination_, alpha_class(plan_.alpha), beta);
    const std::int32_t result =
        add_step(a, b, intermediate(kept, a, b), alpha_class(plan_.alpha), BetaClass::zero);
    return add_step(result, -1, destination_, AlphaClass::one, beta);
  }

  /// After a scale over the whole destination the last step only adds.
  BetaClass final_beta() const {
    const bool scaled = !plan_.steps.empty() && plan_.steps.front().kind == StepKind::scale;
    return scaled ? BetaClass::one : beta_class(plan_.beta);
  }

  const PlanTensor* tensor(std::int32_t t) const {
    return t < 0 ? nullptr : &plan_.tensors[static_cast<std::size_t>(t)];
  }

  PlanTensor intermediate(const std::vector<LabelId>& labels, std::int32_t a,
                          std::int32_t b) const {
    return intermediate_tensor(labels, *tensor(a), tensor(b), plan_.result, extents(), names_);
  }

  std::int32_t add_step(std::int32_t a, std::int32_t b, PlanTensor c, AlphaClass alpha,
                        BetaClass beta) {
    Step step;
    step.a = a;
    step.b = b;
    step.c = static_cast<std::int32_t>(plan_.tensors.size());
    plan_.tensors.push_back(std::move(c));
    step.geometry = fuse(label_axes(*tensor(a), tensor(b), *tensor(step.c), extents()), b < 0);
    step.kernel.alpha = alpha;
    step.kernel.beta = beta;
    step.flops = 1;
    for (const auto& group : step.geometry)
      for (const StepAxis& axis : group) step.flops *= static_cast<double>(axis.extent);
    for (const std::int32_t t : {a, b, step.c})
      if (t >= 0) step.bytes += tensor_bytes(*tensor(t));
    if (beta != BetaClass::zero) step.bytes += tensor_bytes(*tensor(step.c));  // read as well
    plan_.steps.push_back(std::move(step));
    return plan_.steps.back().c;
  }

  double tensor_bytes(const PlanTensor& tensor) const {
    double bytes = static_cast<double>(size_bytes(tensor.type));
    for (const LabelId label : tensor.labels)
      bytes *= static_cast<double>(extents()[static_cast<std::size_t>(label)]);
    return bytes;
  }

  void finish_steps() {
    const auto contractions =
        std::count_if(plan_.steps.begin(), plan_.steps.end(),
                      [](const Step& s) { return s.kind == StepKind::contract; });
    for (Step& step : plan_.steps) {
      if (step.kind != StepKind::contract) continue;
      choose_kernel(plan_, step, step.kernel.alpha, step.kernel.beta, contractions == 1,
                    key_.options.lowering);
      step.blas = blas_form(plan_, step);
    }
  }

  const PlanKey& key_;
  std::span<const std::string> names_;
  Plan plan_;
  PlanTensor destination_;
  std::vector<std::int32_t> holders_;
};

}  // namespace

Plan build_plan(const PlanKey& key, ContractionTree tree, std::span<const std::string> names) {
  return Builder(key, std::move(tree), names).build();
}

}  // namespace einjit
