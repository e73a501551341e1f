// Instruments kernels for ThreadSanitizer; empty in every preset but "tsan".
#include "jit/llvm/thread_sanitizer.h"

#ifdef EINJIT_JIT_TSAN
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>
#include <llvm/Transforms/Scalar/ScalarizeMaskedMemIntrin.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>

extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace einjit::jit {
namespace {

std::recursive_mutex one_at_a_time;

constexpr unsigned kWidestBits = 128;  // ThreadSanitizer's widest access

}  // namespace

InsideLlvm::InsideLlvm() {
  one_at_a_time.lock();
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

InsideLlvm::~InsideLlvm() {
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  one_at_a_time.unlock();
}

void instrument(llvm::Function& function, llvm::TargetMachine& machine) {
  function.addFnAttr(llvm::Attribute::SanitizeThread);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager groups;
  llvm::ModuleAnalysisManager modules;
  // A target of no features, registered first: to it no masked access is legal, so all are cut up.
  functions.registerPass([] { return llvm::TargetIRAnalysis(); });
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(groups);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, groups, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::ScalarizeMaskedMemIntrinPass());
  llvm::ScalarizerPassOptions pieces;
  pieces.ScalarizeLoadStore = true;
  pieces.ScalarizeMinBits = kWidestBits;
  passes.addPass(llvm::ScalarizerPass(pieces));
  passes.addPass(llvm::ThreadSanitizerPass());
  passes.run(function, functions);
}

}  // namespace einjit::jit
#endif
