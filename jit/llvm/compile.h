// KernelSpec → LLVM IR, assembly or object code.
#pragma once

#include <string>

#include "jit/compiler.h"

namespace einjit::jit {

enum class Output { ir, assembly, object };
/// `telling`: the symbol of an object's kernel holds the spec's text.
std::string compile(const KernelSpec& spec, const Target& target, Output output,
                    bool telling = false);

}  // namespace einjit::jit
