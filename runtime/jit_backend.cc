// The backend "jit": geometry → argument block, tables and tiles of a compiled kernel.
//
// The block is made once, at prepare; a run copies it, sets addresses and scalars and calls the
// kernel. Tiles cut one loop level over elements of c (never a contracted one) by adjusting counts,
// table pointers and base addresses, and are a function of the step alone.
#include <algorithm>
#include <cmath>
#include <vector>

#include "einjit/kernel_abi.h"
#include "runtime/jit_backend.h"

namespace einjit {
namespace {

constexpr double kTileIterations =
    32768;                         // multiply-adds; less is not worth another thread's attention
constexpr double kMostTiles = 64;  // enough to balance the threads of one machine
constexpr double kStopIterations = 1
                                   << 28;  // about 30 ms: a stop request is looked at between tiles
constexpr std::int64_t kInnerGrain =
    64;  // a tile of an inner axis is a multiple: whole vectors and cache lines

/// The byte offsets of a list of axes, outermost first: 3 numbers an entry.
std::vector<std::int64_t> offset_table(std::span<const StepAxis> axes,
                                       const std::array<std::int64_t, 3>& sizes) {
  std::vector<std::int64_t> table{0, 0, 0};
  for (const StepAxis& axis : axes) {
    std::vector<std::int64_t> longer;
    longer.reserve(table.size() * static_cast<std::size_t>(axis.extent));
    for (std::size_t entry = 0; entry < table.size(); entry += 3)
      for (std::int64_t i = 0; i < axis.extent; ++i)
        for (std::size_t t = 0; t < 3; ++t)
          longer.push_back(table[entry + t] + i * axis.strides[t] * sizes[t]);
    table = std::move(longer);
  }
  return table;
}

class JitStep final : public PreparedStep {
 public:
  JitStep(std::shared_ptr<const Kernel> kernel, const Step& step) : kernel_(std::move(kernel)) {
    std::array<std::int64_t, 3> sizes{};
    for (std::size_t t = 0; t < 3; ++t)
      sizes[t] = static_cast<std::int64_t>(size_bytes(step.kernel.types[t]));
    tables_.reserve(2 * 4);
    for (const AxisGroup g : kAxisGroups)
      bind_group(step.geometry[static_cast<std::size_t>(g)], g, sizes);
    choose_tiles(step);
  }
  JitStep(const JitStep&) = delete;  // the block points into tables_
  JitStep& operator=(const JitStep&) = delete;

  std::string_view backend() const override { return "jit"; }
  std::int64_t bytes() const override {
    std::int64_t total = sizeof *this;
    for (const auto& table : tables_) total += static_cast<std::int64_t>(8 * table.size());
    return total;
  }
  const SharedCode* code() const override { return kernel_.get(); }
  std::int64_t tiles() const override { return tiles_; }

  void run(const StepPointers& p, std::int64_t tile) const noexcept override {
    KernelArgs args;
    fill(args, p, tile);
    kernel_->entry(&args);
  }
  bool direct(const StepPointers& p, std::int64_t tile, DirectCall& call) const override {
    fill(call.args, p, tile);
    call.entry = kernel_->entry;
    return true;
  }

 private:
  void fill(KernelArgs& args, const StepPointers& p, std::int64_t tile) const noexcept {
    for (std::size_t g = 0; g < 4; ++g) args.groups[g] = groups_[g];
    args.a = p.a;
    args.b = p.b;
    args.c = p.c;
    args.alpha = p.alpha;
    args.beta = p.beta;
    if (tiles_ > 1) cut(args, tile);
  }

  enum class Level : std::uint8_t { outer, middle, inner };

  void bind_group(const std::vector<StepAxis>& axes, AxisGroup g,
                  const std::array<std::int64_t, 3>& sizes) {
    GroupArgs& group = groups_[static_cast<std::size_t>(g)];
    if (axes.empty()) return;
    group.inner = axes.back().extent;
    for (std::size_t t = 0; t < 3; ++t) group.stride[t] = axes.back().strides[t] * sizes[t];
    if (axes.size() == 1) return;
    // Two tables, as even as a cut between axes makes them, so that together they stay small.
    const std::span<const StepAxis> rest(axes.data(), axes.size() - 1);
    double total = 1;
    for (const StepAxis& axis : rest) total *= static_cast<double>(axis.extent);
    std::size_t split = 0;
    double outer = 1, best = total;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      outer *= static_cast<double>(rest[i].extent);
      if (const double longer = std::max(outer, total / outer); longer < best) {
        best = longer;
        split = i + 1;
      }
    }
    tables_.push_back(offset_table(rest.first(split), sizes));
    group.outer = static_cast<std::int64_t>(tables_.back().size() / 3);
    group.outer_table = tables_.back().data();
    tables_.push_back(offset_table(rest.subspan(split), sizes));
    group.middle = static_cast<std::int64_t>(tables_.back().size() / 3);
    group.middle_table = tables_.back().data();
  }

  std::int64_t count(AxisGroup g, Level level) const {
    const GroupArgs& group = groups_[static_cast<std::size_t>(g)];
    return level == Level::outer    ? group.outer
           : level == Level::middle ? group.middle
                                    : group.inner;
  }

  /// Cuts the longest free loop. Every element of c is summed inside one tile, so tiles change no
  /// bit.
  void choose_tiles(const Step& step) {
    const double work = std::max(step.flops, step.bytes / 8);
    const auto wanted = static_cast<std::int64_t>(
        std::min(std::max(kMostTiles, work / kStopIterations), work / kTileIterations));
    if (wanted < 2) return;
    std::int64_t most = 1;
    for (const AxisGroup g : {AxisGroup::batch, AxisGroup::left, AxisGroup::right})
      for (const Level level : {Level::outer, Level::middle, Level::inner}) {
        if (level == Level::inner && step.kernel.group(g).extent != 0) continue;  // baked in
        const std::int64_t pieces = level == Level::inner
                                        ? (count(g, level) + kInnerGrain - 1) / kInnerGrain
                                        : count(g, level);
        if (pieces > most) {
          most = pieces;
          cut_group_ = g;
          cut_level_ = level;
        }
      }
    if (most < 2) return;
    const std::int64_t grain = cut_level_ == Level::inner ? kInnerGrain : 1;
    const std::int64_t grains = (count(cut_group_, cut_level_) + grain - 1) / grain;
    piece_ = (grains + wanted - 1) / wanted * grain;
    tiles_ = (count(cut_group_, cut_level_) + piece_ - 1) / piece_;
  }

  void cut(KernelArgs& args, std::int64_t tile) const {
    GroupArgs& group = args.groups[static_cast<std::size_t>(cut_group_)];
    const std::int64_t begin = tile * piece_;
    const std::int64_t length = std::min(piece_, count(cut_group_, cut_level_) - begin);
    if (cut_level_ == Level::outer) {
      group.outer = length;
      group.outer_table += 3 * begin;
    } else if (cut_level_ == Level::middle) {
      group.middle = length;
      group.middle_table += 3 * begin;
    } else {
      group.inner = length;
      args.a += begin * group.stride[kA];
      if (args.b != nullptr) args.b += begin * group.stride[kB];
      args.c += begin * group.stride[kC];
    }
  }

  std::shared_ptr<const Kernel> kernel_;
  std::array<GroupArgs, 4> groups_{};
  std::vector<std::vector<std::int64_t>> tables_;
  AxisGroup cut_group_ = AxisGroup::batch;
  Level cut_level_ = Level::inner;
  std::int64_t tiles_ = 1, piece_ = 1;
};

class JitBackend final : public Backend {
 public:
  explicit JitBackend(KernelTable& kernels) : kernels_(kernels) {}
  std::string_view name() const override { return "jit"; }
  Capabilities capabilities() const override { return {true, true}; }
  std::unique_ptr<PreparedStep> prepare(const Plan&, const Step& step) override {
    return std::make_unique<JitStep>(kernels_.get(step.kernel), step);
  }

 private:
  KernelTable& kernels_;
};

}  // namespace

std::unique_ptr<Backend> make_jit_backend(KernelTable& kernels) {
  return std::make_unique<JitBackend>(kernels);
}

}  // namespace einjit
