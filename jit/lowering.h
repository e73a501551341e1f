// A lowering: one way to run the loops of a step. Each is one file of jit/lowerings/.
#pragma once

#include <span>
#include <string_view>

#include "jit/loop_nest.h"

namespace einjit::jit {

struct Lowering {
  std::string_view name;
  std::string_view summary;
  bool (*accepts)(const KernelSpec&);
  LoopNest (*lower)(const KernelSpec&, std::int32_t vector_bytes);
};

/// Every lowering, in the order of their files' names.
std::span<const Lowering* const> lowering_table();

/// The free loops of a spec: tables outermost, then inner axes of other groups, then the vector
/// axis, then the row axis.
std::vector<LoopNest::Loop> free_loops(const KernelSpec& spec, const LoopNest& nest);
/// Contiguous, splat or strided by the stride classes of the vector axis.
std::array<Access, 3> accesses(const KernelSpec& spec, std::optional<AxisGroup> vector_axis);
/// The widest vector of the type, no wider than a fixed extent needs.
std::int32_t vector_width(const KernelSpec& spec, AxisGroup axis, std::int32_t vector_bytes);

}  // namespace einjit::jit
