// Opens a BLAS, or takes one that is registered, asks it what it is, and tests what einjit relies
// on. What fails is refused (CONTRACTS §1): an uninitialized destination must never reach it.
#include "runtime/blas_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "einjit/error.h"

namespace einjit {
namespace {

template <class F>
F symbol(void* handle, const std::string& name) {
  F f = nullptr;
  void* const address = dlsym(handle, name.c_str());
  static_assert(sizeof f == sizeof address);
  std::memcpy(&f, &address, sizeof f);
  return f;
}

void check_provider(const BlasProvider& p) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "the BLAS provider '" + p.name + "' " + what);
  };
  if (p.name.empty()) refuse("has no name");
  if (std::any_of(p.name.begin(), p.name.end(),
                  [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    refuse("has a control character in its name");
  if (p.integer_bits != 32 && p.integer_bits != 64)
    refuse("has integers of " + std::to_string(p.integer_bits) + " bits; there are 32 and 64");
  if (!(p.flops_per_second >= 0)) refuse("has a rate that is no rate");
  for (const FortranRoutine& gemm : {p.sgemm, p.dgemm, p.cgemm, p.zgemm})
    if (gemm.address() != nullptr) return;
  refuse("has no gemm");
}

}  // namespace

void BlasLibrary::fail(const std::string& what) const {
  throw Error(ErrorCode::backend_failure, "the BLAS '" + name_ + "' cannot be used: " + what);
}

std::shared_ptr<const BlasLibrary> BlasLibrary::open(const BlasAddress& address) {
  std::shared_ptr<BlasLibrary> library(new BlasLibrary(address.path));
  void* const handle = dlopen(address.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = dlerror();
    library->fail(reason ? reason : "the loader gives no reason");
  }
  ExitGate::guard_opened_library();
  library->routines_.integer_bits = address.integer_bits;
  library->find_routines(handle, address.symbol_suffix);
  library->ask_about_itself(handle);
  library->test_itself();
  return library;
}

std::shared_ptr<const BlasLibrary> BlasLibrary::of(const BlasProvider& provider) {
  check_provider(provider);
  std::shared_ptr<BlasLibrary> library(new BlasLibrary(provider.name));
  library->routines_.integer_bits = provider.integer_bits;
  library->routines_.gemm = {provider.sgemm.address(), provider.dgemm.address(),
                             provider.cgemm.address(), provider.zgemm.address()};
  library->thread_safe_ = provider.thread_safe;
  library->ignores_old_content_ = provider.ignores_old_content;
  library->kind_ = "registered BLAS";
  library->test_itself();
  ExitGate::guard_opened_library();
  return library;
}

/// Each is optional, as it is for a provider, but a library without any gemm is no BLAS.
void BlasLibrary::find_routines(void* handle, const std::string& suffix) {
  std::string missing;
  const auto find = [&](DType type, const char* routine) {
    return symbol<BlasRoutines::Address>(handle, routine_name(type, routine) + suffix);
  };
  for (const DType type : kDTypes) {
    const auto t = static_cast<std::size_t>(type);
    routines_.gemm[t] = find(type, "gemm");
    routines_.gemv[t] = find(type, "gemv");
    if (!is_complex(type)) routines_.dot[t] = find(type, "dot");
    if (!routines_.gemm[t])
      missing += (missing.empty() ? "" : ", ") + routine_name(type, "gemm") + suffix;
  }
  if (std::all_of(routines_.gemm.begin(), routines_.gemm.end(),
                  [](auto f) { return f == nullptr; }))
    fail("it has no " + missing + " (Fortran names, all lower case, ending in '" + suffix + "')");
}

/// Safe from several threads: OpenBLAS built with threads (the serial build shares its buffers
/// without locks: up to 571 wrong products in 10,000), and BLIS, by its documentation. Any other
/// library does not say what it is, the reference one too, so its calls are made one at a time.
void BlasLibrary::ask_about_itself(void* handle) {
  using Text = const char* (*)();
  using Number = int (*)();
  using SetNumber = void (*)(int);
  const auto text = [&](const char* name) -> std::string {
    const auto f = symbol<Text>(handle, name);
    const char* const found = f ? f() : nullptr;
    return found ? found : "";
  };
  configuration_ = text("openblas_get_config");
  core_name_ = text("openblas_get_corename");
  const bool wide = configuration_.find("USE64BITINT") != std::string::npos;
  if (!configuration_.empty() && wide != (routines_.integer_bits == 64))
    fail("its integers have " + std::string(wide ? "64" : "32") + " bits, " +
         std::to_string(routines_.integer_bits) + " were asked for (" + configuration_ + ")");
  if (const auto parallel = symbol<Number>(handle, "openblas_get_parallel")) {
    kind_ = "OpenBLAS";
    // Its complex gemv kernels for Haswell and SkylakeX (0.3.21) read past the end of their
    // operands, into the next page where one ends there; those products are gemms of one column.
    for (const DType type : {DType::c64, DType::c128})
      routines_.gemv[static_cast<std::size_t>(type)] = nullptr;
    parallel_ = parallel();
    thread_safe_ = parallel_ != 0;
  } else if (symbol<Text>(handle, "bli_info_get_version_str")) {
    kind_ = "BLIS";
    configuration_ = text("bli_info_get_version_str");
    thread_safe_ = true;
  }
  // Parallelism is ours. Not set where it is 1 already: another Engine may be calling this library
  // now.
  const auto threads = symbol<Number>(handle, "openblas_get_num_threads");
  const auto set_threads = symbol<SetNumber>(handle, "openblas_set_num_threads");
  if (set_threads && (!threads || threads() != 1)) set_threads(1);
}

void BlasLibrary::test_itself() const {
  const Call calls(*this);
  if (const std::string found = self_test(routines_); !found.empty()) fail(found);
}

std::string BlasLibrary::describe() const {
  std::string text = kind_;
  if (!configuration_.empty()) text += ", " + configuration_;
  if (!core_name_.empty()) text += ", core " + core_name_;
  if (parallel_ >= 0)
    text += parallel_ == 0 ? ", serial build" : parallel_ == 1 ? ", own threads" : ", OpenMP";
  if (!thread_safe_) text += ", called by one thread at a time";
  return text + ", " + name_;
}

}  // namespace einjit
