// The kernel of a step, its BLAS form and its backend.
#pragma once

#include "einjit/plan.h"

namespace einjit {

/// Below this many iterations a single-step plan bakes its extents into the kernel: the loop
/// control then costs as much as the work. Above, one kernel serves all sizes.
inline constexpr std::int64_t kSpecializedIterations = 4096;

/// Completes step.kernel from step.geometry and the tensors' types. `single`: the plan has no other
/// contraction step.
void choose_kernel(const Plan& plan, Step& step, AlphaClass alpha, BetaClass beta, bool single,
                   const std::string& lowering);

/// The step as BLAS calls, where it has that form.
std::optional<BlasForm> blas_form(const Plan& plan, const Step& step);

/// Throws invalid_argument for a name that is no backend's, naming those there are.
void require_backend(std::string_view name);

/// Sets step.backend, step.fallbacks and step.predicted_seconds. Throws unsupported for a forced
/// backend that cannot run the step, naming it by its number.
void choose_backend(Step& step, std::size_t number, const PlanOptions& options,
                    const Machine& machine);

}  // namespace einjit
