// A plan: everything about one contraction that is decided without data. Pure, comparable,
// printable.
//
// Contraction + ContractionTree + operand layouts ─make_plan→ Plan. Steps run in the order of
// `steps`; the laws are in planner/verify.cc, which runs on every plan in debug builds and tests.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "einjit/dtype.h"
#include "einjit/expression.h"
#include "einjit/kernel_spec.h"
#include "einjit/machine.h"
#include "einjit/tree.h"

namespace einjit {

/// How an operand or a destination lies in memory. Strides in elements, signed; the stride of an
/// axis of extent 1 means nothing and is kept as 0.
struct Layout {
  DType type = DType::f64;
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
  bool conj = false;  // operands only; does nothing on a real one
  bool operator==(const Layout&) const = default;
};

enum class ScalarClass : std::uint8_t { zero, one, general };

enum class Accuracy : std::uint8_t { standard, strict };  // strict: no BLAS
enum class Determinism : std::uint8_t { reproducible, relaxed };

/// What the caller may choose. Part of the plan key.
struct PlanOptions {
  std::string finder = "auto";     // a path finder's name; ignored where `path` is given
  std::optional<LinearPath> path;  // the user's own order
  std::string backend =
      "auto";            // "reference", "jit", "blas", "auto"; "blas!" and "jit!" never fall back
  std::string lowering;  // forces a lowering of the jit; empty: its own choice
  Accuracy accuracy = Accuracy::standard;
  std::optional<double> memory_limit_bytes;  // bounds peak_bytes(threads)
  std::int32_t threads = 1;                  // for the memory limit only; never changes a bit
  std::uint64_t seed = 0;
  bool operator==(const PlanOptions&) const = default;
};

/// Everything that decides a plan: two equal keys have equal plans. No addresses, no values. Labels
/// are numbered by first appearance, so renaming them gives the same key.
struct PlanKey {
  Contraction contraction;  // its `names` left empty: they never decide anything
  std::vector<Layout> operands;
  Layout destination;
  ScalarClass alpha = ScalarClass::one;
  ScalarClass beta = ScalarClass::zero;
  PlanOptions options;
  std::string machine;  // to_text(Machine)
  std::int32_t generator = 1;
  bool operator==(const PlanKey&) const = default;
};
/// The key as words: equal words mean equal keys.
std::vector<std::uint64_t> words_of(const PlanKey& key);

enum class Place : std::uint8_t { operand, intermediate, destination };

/// A tensor as steps see it: one entry a label, diagonals merged (their strides added), axes of
/// extent 1 and broadcast axes dropped.
struct PlanTensor {
  Place place = Place::operand;
  std::int32_t operand = -1;  // position, for Place::operand
  DType type = DType::f64;
  bool conj = false;
  std::vector<LabelId> labels;        // unique
  std::vector<std::int64_t> strides;  // elements, one a label
  std::int64_t arena_offset = 0;      // bytes, for Place::intermediate; multiple of 64
  std::int64_t bytes = 0;             // size in the arena, for Place::intermediate
  bool operator==(const PlanTensor&) const = default;
};

/// One fused axis of a step: its extent and its stride in a, b, c (elements; 0 where the tensor has
/// not the axis).
struct StepAxis {
  std::int64_t extent = 1;
  std::array<std::int64_t, 3> strides{};
  bool operator==(const StepAxis&) const = default;
};

/// The canonical form of a step: per group its fused axes, outermost first; the last one is the
/// inner. One order for all tensors of the step (CONTRACTS §7).
using Geometry = std::array<std::vector<StepAxis>, 4>;

/// The step as a loop over BLAS calls, where it has that form. Integers already fit the BLAS.
struct BlasForm {
  enum class Routine : std::uint8_t { gemm, gemv, dot };
  Routine routine = Routine::gemm;
  bool swapped = false;               // a and b change places, so that the result is column-major
  char trans_a = 'N', trans_b = 'N';  // of the column-major problem after swapping: N, T or C
  std::int64_t m = 1, n = 1, k = 1;   // gemv: matrix m × k (trans_a says which way); dot: k
  std::int64_t lda = 1, ldb = 1,
               ldc = 1;         // gemv, dot: ldb, ldc are the vectors' strides (dot: lda, ldb)
  std::vector<StepAxis> batch;  // looped outside
  bool operator==(const BlasForm&) const = default;
};

enum class StepKind : std::uint8_t {
  contract,  // the nest of kernel_spec.h
  fill,      // zeros over the whole destination, with a named reason
  scale,     // destination = beta · destination, whole
};
enum class FillReason : std::uint8_t { none, off_diagonal, empty_sum, alpha_zero };

struct Step {
  StepKind kind = StepKind::contract;
  FillReason reason = FillReason::none;
  std::int32_t a = -1, b = -1, c = -1;  // into Plan::tensors; b = −1: one operand
  KernelSpec kernel;                    // kind contract
  Geometry geometry;
  std::string backend;                 // "jit", "blas", "reference": the planner's choice
  std::vector<std::string> fallbacks;  // in order; empty: refuse
  std::optional<BlasForm> blas;
  std::int32_t wave = 0;         // steps of one wave may run side by side
  double flops = 0;              // multiply-adds
  double bytes = 0;              // read once and written once
  double predicted_seconds = 0;  // by the Machine, one thread
  bool operator==(const Step&) const = default;
};

/// Labels cut into slices: the plan is run once a combination (empty: once).
struct Slice {
  LabelId label = 0;
  bool operator==(const Slice&) const = default;
};

struct Plan {
  Contraction contraction;  // without names, as in the key
  ContractionTree tree;
  DType result = DType::f64;  // of every step
  Layout destination;
  ScalarClass alpha = ScalarClass::one;
  ScalarClass beta = ScalarClass::zero;
  std::vector<PlanTensor>
      tensors;  // operands first, in order; the destination (as steps write it) last
  std::vector<Step> steps;
  std::vector<Slice> slices;
  std::int64_t arena_bytes = 0;
  std::int64_t workspace_bytes = 0;  // a thread
  Costs costs;
  bool reproducible = true;  // false: the search was cut off by a clock
  bool operator==(const Plan&) const = default;

  double predicted_seconds() const {
    double s = 0;
    for (const Step& step : steps) s += step.predicted_seconds;
    return s;
  }
  /// Arena + threads × workspace; operands, destination and code not counted.
  std::int64_t peak_bytes(std::int32_t threads) const {
    return arena_bytes + threads * workspace_bytes;
  }
};

/// Makes the plan. `names` (one a label, may be empty: then `default_label_name`) are for sentences
/// only. Throws invalid_path, memory_limit_exceeded, invalid_argument (unknown finder or
/// backend), unsupported (a forced backend that cannot), size_overflow (an intermediate).
Plan make_plan(const PlanKey& key, const Machine& machine, const SearchBudget& budget,
               std::span<const std::string> names = {});

/// a … z, A … Z, then #52 and on: the name of a label whose own name is not known.
std::string default_label_name(LabelId label);

/// The law of plans; throws std::logic_error with both sides of the first law that is broken.
void verify(const Plan& plan);

/// Text of the whole plan, line by line; reads back equal. parse throws corrupt_file.
std::string to_text(const Plan& plan);
Plan parse_plan(std::string_view text);

/// What people read: tree, per step its form, m/n/k/batch, backend, flops, bytes, predicted time.
std::string explain(const Plan& plan, std::span<const std::string> names = {});
/// The same as JSON.
std::string explain_json(const Plan& plan, std::span<const std::string> names = {});

}  // namespace einjit
