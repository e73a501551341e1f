// Runs the prepared steps of a plan: where each tensor lies, who runs which tile.
//
// Roles: an overwriting step takes bare storage; an accumulating one adds to what an earlier step
// of the plan wrote (proved when the executor is made) or to a destination whose receipt the caller
// has.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "einjit/einsum.h"
#include "runtime/backend.h"
#include "runtime/receipt.h"

namespace einjit {

/// The steps of one prepared plan and the places their pointers come from. Immutable.
class Executor {
 public:
  Executor(const Plan& plan, std::vector<std::unique_ptr<PreparedStep>> steps);

  struct Buffers {
    Operands operands;
    std::byte* destination = nullptr;
    std::optional<WriteReceipt> before;  // of the destination, where it came initialized
    std::byte* arena = nullptr;          // plan.arena_bytes, or null
  };
  /// Receipts of a completed run: every element of the destination is written, and every tensor of
  /// the arena.
  struct Written {
    WriteReceipt destination, arena;
  };
  /// Throws Error{cancelled}. A plan that adds to the destination demands its receipt.
  Written run(const ExecContext& context, const Buffers& buffers, Scalars scalars) const;

  /// The calls that a serial run makes, for a plan without an arena whose steps all have kernels of
  /// their own. Empty: there is no such list, or no short one.
  std::vector<DirectCall> direct_calls(const Buffers& buffers, const Scalars& scalars) const;
  bool is_parallel() const { return any_parallel_; }

  std::span<const std::unique_ptr<PreparedStep>> steps() const { return steps_; }

 private:
  struct Source {
    Place place = Place::operand;
    std::int64_t at = 0;  // operand number, or byte offset in the arena
  };
  struct StepPlaces {
    std::array<Source, 3> tensors;
    bool binary = false;
    AlphaClass alpha = AlphaClass::one;
    BetaClass beta = BetaClass::zero;
    bool whole = false;  // fill or scale: takes the call's beta
  };
  struct Wave {
    std::size_t first = 0, last = 0;  // steps
    std::int64_t tiles = 0;
    bool parallel = false;  // worth more than one thread
  };
  void add_step(const Plan& plan, const Step& step, std::vector<bool>& written);
  StepPointers pointers(std::size_t step, const Buffers& buffers, const Scalars& scalars) const;
  void run_step(std::size_t step, const ExecContext& context, const Buffers& buffers,
                const Scalars& scalars) const;
  void run_serial(const ExecContext& context, const Buffers& buffers, const Scalars& scalars) const;
  void run_parallel(const ExecContext& context, const Buffers& buffers,
                    const Scalars& scalars) const;
  void run_wave(const Wave& wave, const ExecContext& context, const Buffers& buffers,
                const Scalars& scalars) const;

  std::vector<std::unique_ptr<PreparedStep>> steps_;
  std::vector<StepPlaces> places_;
  std::vector<Wave> waves_;
  bool any_parallel_ = false;
  bool adds_to_destination_ = false;  // to what it held before the run
};

}  // namespace einjit
