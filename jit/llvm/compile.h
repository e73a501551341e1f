// KernelSpec → LLVM IR, assembly or object code.
#pragma once

#include <string>

#include "jit/compiler.h"

namespace einjit::jit {

enum class Output { ir, assembly, object };
std::string compile(const KernelSpec& spec, const Target& target, Output output);

}  // namespace einjit::jit
