// Opens the half of the jit that needs LLVM.
#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "einjit/error.h"
#include "jit/compiler.h"
#include "jit/lowering.h"

namespace einjit::jit {
namespace {

std::string module_path() {
  if (const char* path = std::getenv("EINJIT_LLVM_MODULE")) return path;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&open_compiler), &info) == 0 ||
      info.dli_fname == nullptr)
    return "libeinjit_llvm.so";
  const std::string library = info.dli_fname;
  return library.substr(0, library.rfind('/') + 1) + "libeinjit_llvm.so";
}

}  // namespace

std::unique_ptr<Compiler> open_compiler() {
  const std::string path = module_path();
  // Never closed: LLVM's own statics must outlive every kernel.
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == nullptr)
    throw Error(ErrorCode::backend_failure,
                "cannot open the jit's module " + path + ": " + dlerror());
  using Maker = Compiler* (*)();
  const auto make = reinterpret_cast<Maker>(dlsym(module, "einjit_make_compiler"));
  if (make == nullptr)
    throw Error(ErrorCode::backend_failure, path + " is not the jit's module: " + dlerror());
  return std::unique_ptr<Compiler>(make());
}

std::vector<std::string_view> lowering_names() {
  std::vector<std::string_view> names;
  for (const Lowering* lowering : lowering_table()) names.push_back(lowering->name);
  return names;
}

std::string loop_nest_text(const KernelSpec& spec, const Target& target) {
  return to_text(lower(spec, target.vector_bytes));
}

}  // namespace einjit::jit
