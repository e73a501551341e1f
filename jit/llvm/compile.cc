// LLVM IR → object code of a named CPU: position-independent, relocatable, the same bytes every
// time.
#include "jit/llvm/compile.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <stdexcept>

#include "einjit/error.h"
#include "jit/llvm/emitter.h"

namespace einjit::jit {
namespace {

constexpr const char* kTriple = "x86_64-pc-linux-gnu";

std::unique_ptr<llvm::TargetMachine> machine_of(const Target& target) {
  std::string problem;
  const llvm::Target* t = llvm::TargetRegistry::lookupTarget(kTriple, problem);
  if (t == nullptr)
    throw Error(ErrorCode::backend_failure,
                "LLVM has no target " + std::string(kTriple) + ": " + problem);
  return std::unique_ptr<llvm::TargetMachine>(
      t->createTargetMachine(kTriple, target.cpu, "", llvm::TargetOptions(), llvm::Reloc::PIC_,
                             llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

/// What the emitter leaves to be done: locals into registers, constants folded, invariants hoisted.
/// The IR is vectorized and tiled already, so a long pipeline would only cost time.
void optimize(llvm::Function& function, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager groups;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(groups);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, groups, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.run(function, functions);
}

}  // namespace

std::unique_ptr<llvm::Module> make_module(llvm::LLVMContext& context, const KernelSpec& spec,
                                          const Target& target, llvm::TargetMachine& machine) {
  auto module = std::make_unique<llvm::Module>("kernel", context);
  module->setTargetTriple(kTriple);
  module->setDataLayout(machine.createDataLayout());
  module->setPICLevel(llvm::PICLevel::BigPIC);
  const LoopNest nest = lower(spec, target.vector_bytes);
  Emitter(*module, spec, nest).emit();
  llvm::Function& function = *module->getFunction(kEntryName);
  const std::string width = std::to_string(target.vector_bytes * 8);
  function.addFnAttr("prefer-vector-width", width);
  function.addFnAttr("min-legal-vector-width", width);
  function.addFnAttr("target-cpu", target.cpu);
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyFunction(function, &stream))
    throw std::logic_error("emitted IR is not well-formed: " + stream.str());
  verify_role(function, spec);
  optimize(function, machine);
  return module;
}

std::string compile(const KernelSpec& spec, const Target& target, Output output) {
  if (target.cpu == "x86-64")
    throw Error(ErrorCode::unsupported,
                "compiled kernels need a CPU with AVX2 and FMA; the target is x86-64");
  const auto machine = machine_of(target);
  llvm::LLVMContext context;
  const auto module = make_module(context, spec, target, *machine);
  if (output == Output::ir) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, nullptr);
    return text;
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  const auto type = output == Output::assembly ? llvm::CodeGenFileType::AssemblyFile
                                               : llvm::CodeGenFileType::ObjectFile;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type))
    throw Error(ErrorCode::backend_failure, "LLVM cannot write object code for " + target.cpu);
  passes.run(*module);
  return {bytes.begin(), bytes.end()};
}

}  // namespace einjit::jit
