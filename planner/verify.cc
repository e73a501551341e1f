// The law of plans. Runs on every plan in debug builds and tests; a broken law is a fault of ours.
#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "einjit/plan.h"
#include "planner/fuse.h"
#include "planner/kernel_choice.h"
#include "planner/memory_plan.h"

namespace einjit {
namespace {

class Verifier {
 public:
  explicit Verifier(const Plan& plan) : plan_(plan) {}

  void run() {
    law(plan_.tree.leaves == static_cast<std::int32_t>(plan_.contraction.axes.size()),
        "a tree has a leaf an operand");
    law(!plan_.tensors.empty() && plan_.tensors.back().place == Place::destination,
        "the destination stands last");
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) tensor(t);
    count_holders();
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) step(s);
    lifetimes();
    where_.clear();
    if (!plan_.steps.empty()) {
      const Step& last = plan_.steps.back();
      law(last.c == static_cast<std::int32_t>(plan_.tensors.size()) - 1,
          "the last step writes the destination");
    }
  }

 private:
  void law(bool holds, const std::string& what) const {
    if (!holds)
      throw std::logic_error("plan: broken law: " + what + where_ + "\n" + to_text(plan_));
  }
  const PlanTensor& at(std::int32_t t) const { return plan_.tensors[static_cast<std::size_t>(t)]; }
  std::int64_t extent(LabelId l) const {
    return plan_.contraction.extents[static_cast<std::size_t>(l)];
  }

  void tensor(std::size_t number) {
    where_ = " (tensor " + std::to_string(number) + ")";
    const PlanTensor& t = plan_.tensors[number];
    law(t.labels.size() == t.strides.size(), "a stride a label");
    std::vector<LabelId> sorted = t.labels;
    std::sort(sorted.begin(), sorted.end());
    law(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
        "labels of a tensor are unique");
    for (const LabelId l : t.labels)
      law(l >= 0 && static_cast<std::size_t>(l) < plan_.contraction.extents.size() &&
              extent(l) != 1,
          "labels of a tensor are known and longer than 1");
    law((t.place == Place::operand) == (number < plan_.contraction.axes.size()) &&
            (t.place != Place::operand || t.operand == static_cast<std::int32_t>(number)),
        "operands stand first, in order");
    law((t.place == Place::destination) == (number + 1 == plan_.tensors.size()),
        "one destination, last");
    if (t.place == Place::intermediate) {
      law(t.type == plan_.result && !t.conj, "an intermediate is of the result type");
      std::int64_t reach = 1;
      for (std::size_t i = 0; i < t.labels.size(); ++i)
        reach += (extent(t.labels[i]) - 1) * t.strides[i];
      law(reach * static_cast<std::int64_t>(size_bytes(t.type)) == t.bytes,
          "an intermediate is dense");
      law(t.arena_offset >= 0 && t.arena_offset % kArenaAlignment == 0 &&
              t.arena_offset + t.bytes <= plan_.arena_bytes,
          "an intermediate lies in the arena, aligned");
    }
  }

  void step(std::size_t number) {
    where_ = " (step " + std::to_string(number) + ")";
    const Step& s = plan_.steps[number];
    law(number == 0 ? s.wave == 0
                    : (s.wave == plan_.steps[number - 1].wave ||
                       s.wave == plan_.steps[number - 1].wave + 1),
        "waves are numbered in order");
    law(s.c >= 0 && s.c < static_cast<std::int32_t>(plan_.tensors.size()),
        "a step writes a tensor");
    const PlanTensor& c = at(s.c);
    if (s.kind != StepKind::contract) {
      law(number == 0 && c.place == Place::destination,
          "fill and scale come first and write the destination");
      law((s.kind == StepKind::fill) == (s.reason != FillReason::none),
          "zeros are written for a named reason");
      return;
    }
    const auto count = static_cast<std::int32_t>(plan_.tensors.size());
    law(s.a >= 0 && s.a < count && s.b >= -1 && s.b < count && s.kernel.unary == (s.b < 0),
        "a step has one or two operands");
    for (const std::int32_t t : {s.a, s.b})
      law(t < 0 || at(t).place == Place::operand || (made_.contains(t) && made_.at(t) < s.wave),
          "a step reads operands and what earlier waves made");
    law(c.place != Place::operand && !made_.contains(s.c), "a tensor is written by one step");
    made_[s.c] = s.wave;
    labels(s);
    const PlanTensor* b = s.b < 0 ? nullptr : &at(s.b);
    law(s.geometry == fuse(label_axes(at(s.a), b, c, plan_.contraction.extents), s.b < 0),
        "the geometry is the canonical form of the tensors' labels");
    kernel(s);
    law(c.place != Place::intermediate || s.kernel.beta == BetaClass::zero,
        "an intermediate is only overwritten");
    law(s.blas == blas_form(plan_, s), "the BLAS form is the geometry's");
    law(!s.backend.empty(), "a step names its backend");
    law(s.backend != "blas" || s.blas, "a BLAS step has a BLAS form");
  }

  void count_holders() {
    holders_.assign(plan_.contraction.extents.size(), 0);
    for (const PlanTensor& t : plan_.tensors)
      if (t.place != Place::intermediate)
        for (const LabelId l : t.labels) ++holders_[static_cast<std::size_t>(l)];
  }

  /// A label stays while a tensor not yet read, or the destination, needs it, and no longer.
  void labels(const Step& s) {
    for (const std::int32_t t : {s.a, s.b}) {
      if (t < 0) continue;
      law(read_.insert(t).second, "a tensor is read by one step");
      for (const LabelId l : at(t).labels) --holders_[static_cast<std::size_t>(l)];
    }
    const PlanTensor& c = at(s.c);
    const auto in = [](const PlanTensor& t, LabelId l) {
      return std::find(t.labels.begin(), t.labels.end(), l) != t.labels.end();
    };
    for (const std::int32_t t : {s.a, s.b}) {
      if (t < 0) continue;
      for (const LabelId l : at(t).labels)
        law(in(c, l) == (holders_[static_cast<std::size_t>(l)] > 0),
            "a label is summed by the last step that has it");
    }
    if (c.place != Place::intermediate) return;
    for (const LabelId l : c.labels) {
      law(in(at(s.a), l) || (s.b >= 0 && in(at(s.b), l)),
          "an intermediate has its operands' labels");
      ++holders_[static_cast<std::size_t>(l)];
    }
  }

  void kernel(const Step& s) {
    const bool converts = s.kernel.unary && s.kernel.beta == BetaClass::zero;
    law(s.kernel.compute == (converts ? plan_.result : at(s.c).type),
        "a kernel computes in the plan's result type, or in that of what it adds to");
    law(s.kernel.types[kC] == at(s.c).type, "a kernel stores what its destination holds");
    for (const AxisGroup g : kAxisGroups) {
      const auto& axes = s.geometry[static_cast<std::size_t>(g)];
      const GroupSpec& group = s.kernel.group(g);
      law(group.present == !axes.empty() && group.tabled == (axes.size() > 1),
          "the kernel's groups are the geometry's");
      if (axes.empty()) continue;
      law(group.extent == 0 || group.extent == axes.back().extent,
          "a fixed extent is the geometry's");
      for (std::size_t t = 0; t < 3; ++t) {
        const std::int64_t stride = axes.back().strides[t];
        const StrideClass found = stride == 0   ? StrideClass::zero
                                  : stride == 1 ? StrideClass::unit
                                                : StrideClass::runtime;
        law(group.strides[t] == found, "stride classes are the geometry's");
      }
      for (const StepAxis& axis : axes) law(axis.extent > 1, "axes of a step are longer than 1");
    }
  }

  /// Two intermediates that live in one wave share no byte of the arena.
  void lifetimes() {
    where_.clear();
    std::map<std::int32_t, std::int32_t> last;
    for (const Step& s : plan_.steps)
      for (const std::int32_t t : {s.a, s.b})
        if (t >= 0) last[t] = s.wave;
    std::map<std::int64_t, std::pair<std::int64_t, std::int32_t>> live;  // offset → end, tensor
    std::multimap<std::int32_t, std::int64_t> dies;                      // wave → offset
    for (const Step& s : plan_.steps) {
      while (!dies.empty() && dies.begin()->first < s.wave) {
        live.erase(dies.begin()->second);
        dies.erase(dies.begin());
      }
      const PlanTensor& t = at(s.c);
      if (t.place != Place::intermediate) continue;
      const auto next = live.lower_bound(t.arena_offset);
      const bool free_after = next == live.end() || next->first >= t.arena_offset + t.bytes;
      const bool free_before =
          next == live.begin() || std::prev(next)->second.first <= t.arena_offset;
      law(free_after && free_before,
          "living intermediates do not overlap (tensor " + std::to_string(s.c) + ")");
      live[t.arena_offset] = {t.arena_offset + t.bytes, s.c};
      law(last.contains(s.c), "every intermediate is read");
      dies.emplace(last[s.c], t.arena_offset);
    }
  }

  const Plan& plan_;
  std::string where_;
  std::map<std::int32_t, std::int32_t> made_;  // tensor → the wave that writes it
  std::set<std::int32_t> read_;
  std::vector<std::int32_t> holders_;  // per label: tensors not yet read, and the destination
};

}  // namespace

void verify(const Plan& plan) { Verifier(plan).run(); }

}  // namespace einjit
