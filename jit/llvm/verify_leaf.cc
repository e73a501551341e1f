// The law of leaves, checked on the compiled module: a kernel never unwinds and calls nothing but
// LLVM's intrinsics, so that no exception can cross its frame.
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/raw_ostream.h>

#include <stdexcept>

#include "jit/llvm/emitter.h"

namespace einjit::jit {

void verify_leaf(const llvm::Function& function) {
  if (!function.doesNotThrow()) throw std::logic_error("a kernel that may unwind");
  for (const llvm::Instruction& i : llvm::instructions(function)) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
    if (call == nullptr || llvm::isa<llvm::IntrinsicInst>(call)) continue;
    std::string text;
    llvm::raw_string_ostream stream(text);
    i.print(stream);
    throw std::logic_error("a kernel that calls: '" + stream.str() + "'");
  }
}

}  // namespace einjit::jit
