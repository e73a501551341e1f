// A tree and layouts → tensors and steps.
//
// Operands lose what they alone hold by a one-operand step before their first join; joins are walked
// depth-first, the child that needs more memory first; the last step writes the destination. It is a
// step of its own where the destination is wider than the result or has labels that no operand holds.
#include "planner/plan_builder.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "planner/fuse.h"
#include "planner/kernel_choice.h"
#include "planner/memory_plan.h"
#include "planner/simplify.h"

namespace einjit {
namespace {

AlphaClass alpha_class(ScalarClass s) { return s == ScalarClass::one ? AlphaClass::one : AlphaClass::general; }
BetaClass beta_class(ScalarClass s) { return static_cast<BetaClass>(s); }

/// The order in which joins run: depth-first, and of two children the one with the larger need first.
std::vector<std::int32_t> walk_order(const ContractionTree& tree, const std::vector<double>& sizes) {
  const std::int32_t leaves = tree.leaves;
  std::vector<double> need(sizes.size(), 0);
  std::vector<bool> right_first(tree.joins.size());
  for (std::size_t j = 0; j < tree.joins.size(); ++j) {
    const auto l = static_cast<std::size_t>(tree.joins[j].left), r = static_cast<std::size_t>(tree.joins[j].right);
    const double own = sizes[static_cast<std::size_t>(leaves) + j];
    const double left_first = std::max(need[l], sizes[l] + need[r]);
    const double other = std::max(need[r], sizes[r] + need[l]);
    right_first[j] = other < left_first;
    need[static_cast<std::size_t>(leaves) + j] = std::max(std::min(left_first, other), sizes[l] + sizes[r] + own);
  }
  std::vector<std::int32_t> order, stack;
  if (!tree.joins.empty()) stack.push_back(static_cast<std::int32_t>(tree.joins.size()) - 1);
  while (!stack.empty()) {  // root before children, the later child first; reversed below
    const std::int32_t j = stack.back();
    stack.pop_back();
    order.push_back(j);
    const auto& join = tree.joins[static_cast<std::size_t>(j)];
    std::int32_t first = join.left, second = join.right;
    if (right_first[static_cast<std::size_t>(j)]) std::swap(first, second);
    if (first >= leaves) stack.push_back(first - leaves);
    if (second >= leaves) stack.push_back(second - leaves);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

class Builder {
 public:
  Builder(const PlanKey& key, const Machine& machine, ContractionTree tree, std::span<const std::string> names)
      : key_(key), machine_(machine), names_(names) {
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
      whole_destination(plan_.alpha == ScalarClass::zero ? FillReason::alpha_zero : FillReason::empty_sum);
      plan_.tensors.push_back(destination_);
    } else {
      const Network network = network_of(key_.contraction);
      plan_.costs = cost_of(network, plan_.tree);
      if (writes_diagonal(plan_.contraction)) whole_destination(FillReason::off_diagonal);
      contract(network);
    }
    for (Step& step : plan_.steps)
      if (step.kind != StepKind::contract) step.c = static_cast<std::int32_t>(plan_.tensors.size()) - 1;
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
    const std::vector<std::int32_t> order = walk_order(plan_.tree, tensor_sizes(network));
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

  /// log-free sizes of all tensors of the tree, for the walk's order.
  std::vector<double> tensor_sizes(const Network& network) {
    std::vector<std::int32_t> count(extents().size(), 0);
    for (const auto& labels : network.tensors)
      for (const LabelId l : labels) ++count[static_cast<std::size_t>(l)];
    for (const LabelId l : network.output) ++count[static_cast<std::size_t>(l)];
    std::vector<std::vector<LabelId>> labels = network.tensors;
    std::vector<double> sizes(labels.size(), 0);  // operands are not ours
    for (const ContractionTree::Join& join : plan_.tree.joins) {
      std::vector<LabelId> kept;
      const auto& l = labels[static_cast<std::size_t>(join.left)];
      const auto& r = labels[static_cast<std::size_t>(join.right)];
      for (const LabelId x : l) --count[static_cast<std::size_t>(x)];
      for (const LabelId x : r) --count[static_cast<std::size_t>(x)];
      std::set_union(l.begin(), l.end(), r.begin(), r.end(), std::back_inserter(kept));
      std::erase_if(kept, [&](LabelId x) { return count[static_cast<std::size_t>(x)] == 0; });
      double size = 1;
      for (const LabelId x : kept) {
        ++count[static_cast<std::size_t>(x)];
        size *= static_cast<double>(extents()[static_cast<std::size_t>(x)]);
      }
      labels.push_back(std::move(kept));
      sizes.push_back(size);
    }
    return sizes;
  }

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
    return add_step(t, -1, intermediate(kept, {t, -1}), AlphaClass::one, BetaClass::zero);
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
        if (holder(label) > 0 && std::find(kept.begin(), kept.end(), label) == kept.end()) kept.push_back(label);
    }
    if (!last) {
      for (const LabelId label : kept) ++holder(label);
      return add_step(a, b, intermediate(kept, {a, b}), AlphaClass::one, BetaClass::zero);
    }
    const BetaClass beta = final_beta();
    const bool direct = destination_.type == plan_.result && kept.size() == destination_.labels.size();
    if (direct) return add_step(a, b, destination_, alpha_class(plan_.alpha), beta);
    const std::int32_t result =
        add_step(a, b, intermediate(kept, {a, b}), alpha_class(plan_.alpha), BetaClass::zero);
    return add_step(result, -1, destination_, AlphaClass::one, beta);
  }

  /// After a scale over the whole destination the last step only adds.
  BetaClass final_beta() const {
    const bool scaled = !plan_.steps.empty() && plan_.steps.front().kind == StepKind::scale;
    return scaled ? BetaClass::one : beta_class(plan_.beta);
  }

  /// A dense tensor, its labels in the order batch, left, right, each group in the order of the operand
  /// that carries it: so matrix products stay matrix products. (The one place that decides this.)
  PlanTensor intermediate(const std::vector<LabelId>& labels, std::array<std::int32_t, 2> operands) {
    struct Rank {
      int group;
      std::int64_t stride, other;
      LabelId label;
      std::int64_t extent;
    };
    const auto stride_in = [&](std::int32_t t, LabelId label) -> std::optional<std::int64_t> {
      if (t < 0) return std::nullopt;
      const PlanTensor& tensor = plan_.tensors[static_cast<std::size_t>(t)];
      const auto at = std::find(tensor.labels.begin(), tensor.labels.end(), label);
      if (at == tensor.labels.end()) return std::nullopt;
      return std::abs(tensor.strides[static_cast<std::size_t>(at - tensor.labels.begin())]);
    };
    std::vector<Rank> ranks;
    for (const LabelId label : labels) {
      const auto a = stride_in(operands[0], label), b = stride_in(operands[1], label);
      ranks.push_back({a && b ? 0 : a ? 1 : 2, a ? *a : *b, b.value_or(0), label,
                       extents()[static_cast<std::size_t>(label)]});
    }
    std::stable_sort(ranks.begin(), ranks.end(), [](const Rank& x, const Rank& y) {
      return std::tuple(x.group, -x.stride, -x.other, -x.extent) < std::tuple(y.group, -y.stride, -y.other, -y.extent);
    });
    PlanTensor tensor;
    tensor.place = Place::intermediate;
    tensor.type = plan_.result;
    std::vector<std::int64_t> shape;
    std::string what = "the intermediate ";
    for (const Rank& rank : ranks) {
      tensor.labels.push_back(rank.label);
      shape.push_back(rank.extent);
      const auto l = static_cast<std::size_t>(rank.label);
      what += l < names_.size() ? names_[l] : default_label_name(rank.label);
    }
    tensor.bytes = checked_bytes(shape, tensor.type, what);
    tensor.strides.assign(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) tensor.strides[i - 1] = tensor.strides[i] * shape[i];
    return tensor;
  }

  std::int32_t add_step(std::int32_t a, std::int32_t b, PlanTensor c, AlphaClass alpha, BetaClass beta) {
    Step step;
    step.a = a;
    step.b = b;
    step.c = static_cast<std::int32_t>(plan_.tensors.size());
    plan_.tensors.push_back(std::move(c));
    const auto tensor = [&](std::int32_t t) { return t < 0 ? nullptr : &plan_.tensors[static_cast<std::size_t>(t)]; };
    step.geometry = fuse(label_axes(*tensor(a), tensor(b), *tensor(step.c), extents()), b < 0);
    step.kernel.alpha = alpha;
    step.kernel.beta = beta;
    step.flops = 1;
    for (const auto& group : step.geometry)
      for (const StepAxis& axis : group) step.flops *= static_cast<double>(axis.extent);
    for (const std::int32_t t : {a, b, step.c})
      if (t >= 0) step.bytes += tensor_bytes(*tensor(t));
    plan_.steps.push_back(std::move(step));
    return plan_.steps.back().c;
  }

  double tensor_bytes(const PlanTensor& tensor) const {
    double bytes = static_cast<double>(size_bytes(tensor.type));
    for (const LabelId label : tensor.labels) bytes *= static_cast<double>(extents()[static_cast<std::size_t>(label)]);
    return bytes;
  }

  void finish_steps() {
    const auto contractions = std::count_if(plan_.steps.begin(), plan_.steps.end(),
                                            [](const Step& s) { return s.kind == StepKind::contract; });
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      Step& step = plan_.steps[i];
      if (step.kind == StepKind::contract) {
        choose_kernel(plan_, step, step.kernel.alpha, step.kernel.beta, contractions == 1, key_.options.lowering);
        step.blas = blas_form(plan_, step);
      }
      choose_backend(step, i, key_.options, machine_);
    }
  }

  const PlanKey& key_;
  const Machine& machine_;
  std::span<const std::string> names_;
  Plan plan_;
  PlanTensor destination_;
  std::vector<std::int32_t> holders_;
};

}  // namespace

Plan build_plan(const PlanKey& key, const Machine& machine, ContractionTree tree,
                std::span<const std::string> names) {
  return Builder(key, machine, std::move(tree), names).build();
}

}  // namespace einjit
