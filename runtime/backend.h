// A backend turns a step of a plan into something that runs, and says what it promises.
//
// (Plan, Step) ─prepare→ PreparedStep ─run(pointers, tile)→ elements of c written. Tiles are fixed
// by the step alone, disjoint in c and in any order; bits do not depend on how they are spread over
// threads.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "einjit/kernel_abi.h"
#include "einjit/plan.h"

namespace einjit {

/// What a backend promises about a destination (CONTRACTS §1).
struct Capabilities {
  bool ignores_old_content =
      false;  // with beta zero nothing depends on what c held: needed for an UninitView
  bool keeps_unwritten = false;  // an element not yet written still holds its old bits
};

/// The addresses and scalars of one run of one step. a, b, c point at index 0 of the tensors.
struct StepPointers {
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::byte* c = nullptr;
  std::array<double, 2> alpha{1, 0};  // re, im
  std::array<double, 2> beta{0, 0};
};

/// One tile with all its arguments fixed: calling it costs the kernel's own time.
struct DirectCall {
  KernelEntry entry = nullptr;
  KernelArgs args;
};

/// Code that several steps share, as the cache counts it: once, while any plan in it needs it.
struct SharedCode {
  std::int64_t bytes = 0;                 // code and data sections
  mutable std::int64_t cached_steps = 0;  // under the cache's lock
};

class PreparedStep {
 public:
  virtual ~PreparedStep() = default;
  virtual std::string_view backend() const = 0;
  /// False: this step has no kernel that could be called without it.
  virtual bool direct(const StepPointers& /*pointers*/, std::int64_t /*tile*/,
                      DirectCall& /*call*/) const {
    return false;
  }
  virtual std::int64_t bytes() const { return 0; }            // of tables that grow with the step
  virtual const SharedCode* code() const { return nullptr; }  // null: none of its own
  virtual std::int64_t tiles() const = 0;                     // ≥ 1
  virtual void run(const StepPointers& pointers, std::int64_t tile) const noexcept = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual Capabilities capabilities() const = 0;
  /// nullptr: this step's form is not one of this backend's. Throws backend_failure.
  virtual std::unique_ptr<PreparedStep> prepare(const Plan& plan, const Step& step) = 0;
};

}  // namespace einjit
