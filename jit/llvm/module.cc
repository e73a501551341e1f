// The module's entry: makes the Compiler, and turns whatever escapes from LLVM into our errors.
#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>

#include "einjit/error.h"
#include "jit/llvm/compile.h"
#include "jit/llvm/death.h"
#include "jit/llvm/emitter.h"
#include "jit/llvm/load.h"
#include "jit/llvm/thread_sanitizer.h"

namespace einjit::jit {
namespace {

template <class F>
auto guarded(F&& f) {
  const InsideLlvm inside;
  if (is_dead())
    throw Error(ErrorCode::backend_failure,
                "the jit of this process died in an earlier failure inside LLVM");
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    declare_dead();
    throw Error(ErrorCode::backend_failure, std::string("LLVM failed: ") + e.what());
  } catch (...) {
    declare_dead();
    throw Error(ErrorCode::backend_failure, "LLVM failed with something that is no std::exception");
  }
}

/// Holds a law against a kernel given as text.
template <class Law>
void check_text(const std::string& llvm_ir, const Law& law) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const auto module = llvm::parseAssemblyString(llvm_ir, problem, context);
  const llvm::Function* function = module ? module->getFunction(kEntryName) : nullptr;
  if (function == nullptr)
    throw Error(ErrorCode::corrupt_file,
                "not the LLVM IR of a kernel: " + problem.getMessage().str());
  law(*function);
}

class LlvmCompiler final : public Compiler {
 public:
  explicit LlvmCompiler(const DebugNames& names) : loader_(names), telling_(names.wanted()) {}
  std::string compile_object(const KernelSpec& spec, const Target& target) override {
    return guarded([&] { return compile(spec, target, Output::object, telling_); });
  }
  std::unique_ptr<LoadedCode> load(std::string_view object) override {
    return guarded([&] { return loader_.load(object); });
  }
  std::string llvm_ir(const KernelSpec& spec, const Target& target) override {
    return guarded([&] { return compile(spec, target, Output::ir); });
  }
  std::string assembly(const KernelSpec& spec, const Target& target) override {
    return guarded([&] { return compile(spec, target, Output::assembly); });
  }
  void verify_role(const std::string& llvm_ir, const KernelSpec& spec) override {
    check_text(llvm_ir, [&](const llvm::Function& f) { jit::verify_role(f, spec); });
  }
  void verify_leaf(const std::string& llvm_ir) override {
    check_text(llvm_ir, [](const llvm::Function& f) { jit::verify_leaf(f); });
  }

 private:
  Loader loader_;
  const bool telling_;
};

}  // namespace
}  // namespace einjit::jit

extern "C" einjit::jit::Compiler* einjit_make_compiler() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  return einjit::jit::guarded(
      [] { return new einjit::jit::LlvmCompiler(einjit::jit::DebugNames::from_environment()); });
}
