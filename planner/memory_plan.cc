// Waves and arena offsets of a plan.
#include "planner/memory_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "einjit/error.h"

namespace einjit {
namespace {

constexpr std::size_t kWaveSteps =
    16;  // side by side at most: keeps lifetimes, and so the arena, short
constexpr double kSmallStepFlops = 1 << 20;  // a larger step spreads over threads by itself

std::int64_t aligned(std::int64_t bytes) {
  return (std::max<std::int64_t>(bytes, 1) + kArenaAlignment - 1) / kArenaAlignment *
         kArenaAlignment;
}

/// Free stretches of the arena: by offset, and by size for best fit. The stretch at the end is
/// unbounded.
class Gaps {
 public:
  std::int64_t take(std::int64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) {  // at the end of the arena, joined with a gap that touches it
      std::int64_t offset = end_;
      if (!by_offset_.empty() && by_offset_.rbegin()->first + by_offset_.rbegin()->second == end_) {
        offset = by_offset_.rbegin()->first;
        erase(offset, by_offset_.rbegin()->second);
      }
      if (__builtin_add_overflow(offset, bytes, &end_))
        throw Error(ErrorCode::size_overflow,
                    "the intermediates together have more than 2^63 bytes; slice the contraction");
      return offset;
    }
    const auto [size, offset] = *fit;
    erase(offset, size);
    if (size > bytes) insert(offset + bytes, size - bytes);
    return offset;
  }
  void give_back(std::int64_t offset, std::int64_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && offset + bytes == next->first) {
      bytes += next->second;
      erase(next->first, next->second);
      next = by_offset_.lower_bound(offset);
    }
    if (next != by_offset_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        offset = before->first;
        bytes += before->second;
        erase(before->first, before->second);
      }
    }
    insert(offset, bytes);
  }
  std::int64_t end() const { return end_; }

 private:
  void insert(std::int64_t offset, std::int64_t size) {
    by_offset_[offset] = size;
    by_size_.insert({size, offset});
  }
  void erase(std::int64_t offset, std::int64_t size) {
    by_size_.erase({size, offset});
    by_offset_.erase(offset);
  }
  std::map<std::int64_t, std::int64_t> by_offset_;
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;
  std::int64_t end_ = 0;
};

}  // namespace

void assign_waves(Plan& plan) {
  std::vector<std::int32_t> made_in(plan.tensors.size(), -1);
  std::int32_t wave = 0;
  std::size_t in_wave = 0;
  bool open = false;  // may the current wave take another step?
  for (Step& step : plan.steps) {
    const bool small = step.kind == StepKind::contract && step.flops <= kSmallStepFlops &&
                       plan.tensors[static_cast<std::size_t>(step.c)].place == Place::intermediate;
    bool joins = open && small && in_wave < kWaveSteps;
    for (const std::int32_t t : {step.a, step.b})
      if (t >= 0 && made_in[static_cast<std::size_t>(t)] == wave) joins = false;
    if (!joins && in_wave > 0) {
      ++wave;
      in_wave = 0;
    }
    step.wave = wave;
    made_in[static_cast<std::size_t>(step.c)] = wave;
    ++in_wave;
    open = small;
  }
}

void assign_offsets(Plan& plan) {
  std::vector<std::int32_t> last_use(plan.tensors.size(), -1);
  for (const Step& step : plan.steps)
    for (const std::int32_t t : {step.a, step.b})
      if (t >= 0) last_use[static_cast<std::size_t>(t)] = step.wave;
  Gaps gaps;
  std::vector<std::vector<std::size_t>> dies_after;
  if (!plan.steps.empty()) dies_after.resize(static_cast<std::size_t>(plan.steps.back().wave) + 1);
  std::int32_t wave = 0;
  for (const Step& step : plan.steps) {
    for (; wave < step.wave; ++wave)
      for (const std::size_t t : dies_after[static_cast<std::size_t>(wave)])
        gaps.give_back(plan.tensors[t].arena_offset, aligned(plan.tensors[t].bytes));
    PlanTensor& made = plan.tensors[static_cast<std::size_t>(step.c)];
    if (made.place != Place::intermediate) continue;
    made.arena_offset = gaps.take(aligned(made.bytes));
    dies_after[static_cast<std::size_t>(
                   std::max(last_use[static_cast<std::size_t>(step.c)], step.wave))]
        .push_back(static_cast<std::size_t>(step.c));
  }
  plan.arena_bytes = gaps.end();
}

}  // namespace einjit
