// The backends that need no code generator, each behind a factory, as runtime's core sees them.
//
// "reference": plain loops over labels, for every step. "blas": gemm, gemv and dot of a shared
// library, or gemm of a registered one, for steps that have a BlasForm. Fill and scale steps belong
// to no backend: make_fill_step runs them.
#pragma once

#include <memory>

#include "runtime/backend.h"
#include "runtime/blas_library.h"

namespace einjit {

/// Debian's OpenBLAS with its own thread pool: the build that is safe to call from several threads.
inline constexpr const char* kDebianOpenBlas =
    "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0";

/// Never fails, but for more iterations than 2^63 (unsupported).
std::unique_ptr<Backend> make_reference_backend();

/// Opens the library at the first prepare, not here. An empty path means kDebianOpenBlas. Its
/// prepare throws backend_failure naming the path, what is missing or what the self-test found.
std::unique_ptr<Backend> make_blas_backend(const BlasAddress& address);
/// Calls a library that is open, or registered; its steps keep it alive.
std::unique_ptr<Backend> make_blas_backend(std::shared_ptr<const BlasLibrary> library);

/// For StepKind::fill and StepKind::scale: works on the whole of Plan::destination through
/// StepPointers::c; a and b are not looked at, gaps not touched.
std::unique_ptr<PreparedStep> make_fill_step(const Plan& plan, const Step& step);

}  // namespace einjit
