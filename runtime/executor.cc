// Runs prepared steps, wave by wave, over fixed tiles.
//
// Serial: a plain loop. Otherwise the waves that are worth it spread their (step, tile) pairs over
// the arena of the context. Tiles are fixed by the steps, so which thread runs which changes no
// bit. A run allocates nothing and takes no lock of ours.
#include "runtime/executor.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "einjit/error.h"
#include "runtime/thread_policy.h"

namespace einjit {
namespace {

constexpr double kParallelWork =
    32768;  // elements; below, waking another thread costs more than the work

constexpr std::size_t kMostDirectCalls = 64;  // beyond, the kernels' own time hides the rest

[[noreturn]] void cancelled() {
  throw Error(ErrorCode::cancelled,
              "the contraction was stopped by its stop token; the destination is not complete");
}

}  // namespace

Executor::Executor(const Plan& plan, std::vector<std::unique_ptr<PreparedStep>> steps)
    : steps_(std::move(steps)) {
  if (steps_.size() != plan.steps.size())
    throw std::logic_error("executor: " + std::to_string(steps_.size()) + " prepared steps, " +
                           std::to_string(plan.steps.size()) + " planned");
  std::vector<bool> written(plan.tensors.size(), false);
  double work = 0;  // of the wave
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    add_step(plan, step, written);
    if (i == 0 || plan.steps[i - 1].wave != step.wave) {
      waves_.push_back({i, i, 0, false});
      work = 0;
    }
    Wave& wave = waves_.back();
    wave.last = i + 1;
    wave.tiles += steps_[i]->tiles();
    work += std::max(step.flops, step.bytes / 8);
    wave.parallel = wave.tiles > 1 && work >= kParallelWork;
    any_parallel_ = any_parallel_ || wave.parallel;
  }
}

void Executor::add_step(const Plan& plan, const Step& step, std::vector<bool>& written) {
  StepPlaces places;
  const std::array<std::int32_t, 3> tensors{step.a, step.b, step.c};
  for (std::size_t t = 0; t < 3; ++t) {
    if (tensors[t] < 0) continue;
    const PlanTensor& tensor = plan.tensors[static_cast<std::size_t>(tensors[t])];
    places.tensors[t] = {tensor.place,
                         tensor.place == Place::operand ? tensor.operand : tensor.arena_offset};
  }
  places.binary = step.b >= 0;
  places.alpha = step.kernel.alpha;
  places.beta = step.kernel.beta;
  places.whole = step.kind != StepKind::contract;
  places_.push_back(places);
  const bool adds = step.kind == StepKind::contract ? step.kernel.role() == Role::accumulate
                                                    : step.kind == StepKind::scale;
  const auto c = static_cast<std::size_t>(step.c);
  if (adds && !written[c]) {
    if (plan.tensors[c].place != Place::destination)
      throw std::logic_error("executor: step " + std::to_string(places_.size() - 1) +
                             " adds to an intermediate that no step has written");
    adds_to_destination_ = true;
  }
  written[c] = true;
}

StepPointers Executor::pointers(std::size_t step, const Buffers& buffers,
                                const Scalars& scalars) const {
  const StepPlaces& places = places_[step];
  const auto read = [&](const Source& s) -> const std::byte* {
    return s.place == Place::operand ? buffers.operands[static_cast<std::size_t>(s.at)].data
                                     : buffers.arena + s.at;
  };
  StepPointers p;
  if (!places.whole) {
    p.a = read(places.tensors[kA]);
    if (places.binary) p.b = read(places.tensors[kB]);
  }
  p.c = places.tensors[kC].place == Place::destination ? buffers.destination
                                                       : buffers.arena + places.tensors[kC].at;
  if (places.alpha == AlphaClass::general) p.alpha = {scalars.alpha.real(), scalars.alpha.imag()};
  if (places.beta == BetaClass::one) p.beta = {1, 0};
  if (places.beta == BetaClass::general || places.whole)
    p.beta = {scalars.beta.real(), scalars.beta.imag()};
  return p;
}

void Executor::run_step(std::size_t step, const ExecContext& context, const Buffers& buffers,
                        const Scalars& scalars) const {
  const bool stoppable = context.stop().stop_possible();
  const StepPointers p = pointers(step, buffers, scalars);
  const std::int64_t tiles = steps_[step]->tiles();
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    if (stoppable && context.stop().stop_requested()) cancelled();
    steps_[step]->run(p, tile);
  }
}

std::vector<DirectCall> Executor::direct_calls(const Buffers& buffers,
                                               const Scalars& scalars) const {
  std::vector<DirectCall> calls;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const StepPointers p = pointers(i, buffers, scalars);
    for (std::int64_t tile = 0; tile < steps_[i]->tiles(); ++tile) {
      if (calls.size() == kMostDirectCalls) return {};
      if (!steps_[i]->direct(p, tile, calls.emplace_back())) return {};
    }
  }
  return calls;
}

void Executor::run_serial(const ExecContext& context, const Buffers& buffers,
                          const Scalars& scalars) const {
  for (std::size_t i = 0; i < steps_.size(); ++i) run_step(i, context, buffers, scalars);
}

void Executor::run_wave(const Wave& wave, const ExecContext& context, const Buffers& buffers,
                        const Scalars& scalars) const {
  const bool complete = for_each_tile(wave.tiles, context.stop(), [&](std::int64_t i) {
    std::size_t step = wave.first;  // a wave has few steps
    while (i >= steps_[step]->tiles()) i -= steps_[step++]->tiles();
    steps_[step]->run(pointers(step, buffers, scalars), i);
  });
  if (!complete) cancelled();
}

void Executor::run_parallel(const ExecContext& context, const Buffers& buffers,
                            const Scalars& scalars) const {
  for (const Wave& wave : waves_) {
    if (wave.parallel)
      run_wave(wave, context, buffers, scalars);
    else
      for (std::size_t i = wave.first; i < wave.last; ++i) run_step(i, context, buffers, scalars);
  }
}

[[gnu::flatten]] Executor::Written Executor::run(const ExecContext& context, const Buffers& buffers,
                                                 Scalars scalars) const {
  if (adds_to_destination_ && !buffers.before)
    throw std::logic_error("executor: a plan that adds to its destination, which has no value");
  const std::int32_t width = any_parallel_ ? thread_width(context) : 1;
  if (width == 1)
    run_serial(context, buffers, scalars);
  else
    run_in_arena(context, width, [&] { run_parallel(context, buffers, scalars); });
  return {WriteReceipt(buffers.destination), WriteReceipt(buffers.arena)};
}

}  // namespace einjit
