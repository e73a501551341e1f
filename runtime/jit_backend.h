// The backend "jit": steps by compiled kernels.
#pragma once

#include <memory>

#include "runtime/backend.h"
#include "runtime/kernel_table.h"

namespace einjit {

/// Compiles in prepare, through the table; the table must outlive the backend. Its prepare throws
/// what the compiler throws.
std::unique_ptr<Backend> make_jit_backend(KernelTable& kernels);

}  // namespace einjit
