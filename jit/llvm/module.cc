// The module's entry: makes the Compiler, and turns whatever escapes from LLVM into our errors.
#include <llvm/Support/TargetSelect.h>

#include <atomic>
#include <mutex>

#include "einjit/error.h"
#include "jit/llvm/compile.h"
#include "jit/llvm/emitter.h"
#include "jit/llvm/load.h"

namespace einjit::jit {
namespace {

// Out of memory inside LLVM is not survivable: it may leave locks held. After any exception that
// escapes from it, nothing is compiled in this process again.
std::atomic<bool> dead{false};

template <class F>
auto guarded(F&& f) {
  if (dead.load())
    throw Error(ErrorCode::backend_failure,
                "the jit of this process died in an earlier failure inside LLVM");
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    dead = true;
    throw Error(ErrorCode::backend_failure, std::string("LLVM failed: ") + e.what());
  } catch (...) {
    dead = true;
    throw Error(ErrorCode::backend_failure, "LLVM failed with something that is no std::exception");
  }
}

class LlvmCompiler final : public Compiler {
 public:
  std::string compile_object(const KernelSpec& spec, const Target& target) override {
    return guarded([&] { return compile(spec, target, Output::object); });
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
    verify_role_of_text(llvm_ir, spec);
  }

 private:
  Loader loader_;
};

}  // namespace
}  // namespace einjit::jit

extern "C" einjit::jit::Compiler* einjit_make_compiler() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  return einjit::jit::guarded([] { return new einjit::jit::LlvmCompiler; });
}
