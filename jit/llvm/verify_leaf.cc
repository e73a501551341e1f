// The law of leaves, checked on the compiled module: a kernel never unwinds and calls nothing but
// LLVM's intrinsics, so that no exception can cross its frame.
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <stdexcept>

#include "einjit/error.h"
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

void verify_leaf_of_text(const std::string& llvm_ir) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const auto module = llvm::parseAssemblyString(llvm_ir, problem, context);
  const llvm::Function* function = module ? module->getFunction(kEntryName) : nullptr;
  if (function == nullptr)
    throw Error(ErrorCode::corrupt_file,
                "not the LLVM IR of a kernel: " + problem.getMessage().str());
  verify_leaf(*function);
}

}  // namespace einjit::jit
