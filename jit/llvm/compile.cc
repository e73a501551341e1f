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

#include <algorithm>
#include <stdexcept>

#include "einjit/error.h"
#include "jit/llvm/death.h"
#include "jit/llvm/emitter.h"
#include "jit/llvm/thread_sanitizer.h"

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
  Fragile<llvm::LoopAnalysisManager> loops;
  Fragile<llvm::FunctionAnalysisManager> functions;
  Fragile<llvm::CGSCCAnalysisManager> groups;
  Fragile<llvm::ModuleAnalysisManager> modules;
  Fragile<llvm::PassBuilder> builder(&machine);
  builder->registerModuleAnalyses(*modules);
  builder->registerCGSCCAnalyses(*groups);
  builder->registerFunctionAnalyses(*functions);
  builder->registerLoopAnalyses(*loops);
  builder->crossRegisterProxies(*loops, *functions, *groups, *modules);
  Fragile<llvm::FunctionPassManager> passes;
  passes->addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes->addPass(llvm::EarlyCSEPass(true));
  passes->addPass(llvm::InstCombinePass());
  passes->addPass(llvm::SimplifyCFGPass());
  passes->addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes->addPass(llvm::SimplifyCFGPass());
  passes->run(function, *functions);
}

/// Fills the module with the kernel.
void build(llvm::Module& module, const KernelSpec& spec, const LoopNest& nest, const Target& target,
           llvm::TargetMachine& machine) {
  module.setTargetTriple(kTriple);
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  Emitter(module, spec, nest).emit();
  llvm::Function& function = *module.getFunction(kEntryName);
  const std::string width = std::to_string(target.vector_bytes * 8);
  function.addFnAttr("prefer-vector-width", width);
  function.addFnAttr("min-legal-vector-width", width);
  function.addFnAttr("target-cpu", target.cpu);
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyFunction(function, &stream))
    throw std::logic_error("emitted IR is not well-formed: " + stream.str());
  verify_role(function, spec);
  verify_leaf(function);
  optimize(function, machine);
  instrument(function, machine);
}

/// "einjit_kernel_f64_a.f64_…": the spec's text without what GDB's break command cannot take.
std::string telling_name(const KernelSpec& spec) {
  std::string name = std::string(kEntryName) + "_" + to_text(spec);
  std::replace(name.begin(), name.end(), ' ', '_');
  std::replace(name.begin(), name.end(), ':', '.');
  return name;
}

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

}  // namespace

std::string compile(const KernelSpec& spec, const Target& target, Output output, bool telling) {
  if (target.cpu == "x86-64")
    throw Error(ErrorCode::unsupported,
                "compiled kernels need a CPU with AVX2 and FMA; the target is x86-64");
  const LoopNest nest = lower(spec, target.vector_bytes);
  Fragile<std::unique_ptr<llvm::TargetMachine>> machine(machine_of(target));
  Fragile<llvm::LLVMContext> context;
  Fragile<llvm::Module> module("kernel", *context);
  build(*module, spec, nest, target, **machine);
  if (output == Output::ir) return text_of(*module);
  if (telling) module->getFunction(kEntryName)->setName(telling_name(spec));
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  Fragile<llvm::legacy::PassManager> passes;
  const auto type = output == Output::assembly ? llvm::CodeGenFileType::AssemblyFile
                                               : llvm::CodeGenFileType::ObjectFile;
  if ((*machine)->addPassesToEmitFile(*passes, stream, nullptr, type))
    throw Error(ErrorCode::backend_failure, "LLVM cannot write object code for " + target.cpu);
  passes->run(*module);
  return {bytes.begin(), bytes.end()};
}

}  // namespace einjit::jit
