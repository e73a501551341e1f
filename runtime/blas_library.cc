// Opens a BLAS, asks it what it is, and tests what einjit relies on.
//
// The tests: with beta = 0, no NaN that the destination held survives a gemm or a gemv, in small
// and in blocked sizes. A library that fails them is refused (CONTRACTS §1): an uninitialized
// destination must never reach it.
#include "runtime/blas_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "einjit/error.h"

namespace einjit {
namespace {

constexpr char kPrefixes[] = {'s', 'd', 'c', 'z'};  // by DType

template <class F>
F symbol(void* handle, const std::string& name) {
  F f = nullptr;
  void* const address = dlsym(handle, name.c_str());
  static_assert(sizeof f == sizeof address);
  std::memcpy(&f, &address, sizeof f);
  return f;
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  bytes.resize(bytes.size() + sizeof value);
  std::memcpy(bytes.data() + bytes.size() - sizeof value, &value, sizeof value);
}

/// n elements whose parts are re and im.
std::vector<std::byte> elements(DType type, int n, double re, double im) {
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<std::size_t>(n) * size_bytes(type));
  for (int i = 0; i < n; ++i)
    for (int part = 0; part < (is_complex(type) ? 2 : 1); ++part) {
      const double value = part == 0 ? re : im;
      is_double(type) ? append(bytes, value) : append(bytes, static_cast<float>(value));
    }
  return bytes;
}

bool gemm_ignores_nan(BlasRoutines::Gemm gemm, DType type, int m, int n, int k) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto a = elements(type, m * k, 1, 0), b = elements(type, k * n, 1, 0);
  const auto alpha = elements(type, 1, 1, 0), beta = elements(type, 1, 0, 0);
  auto c = elements(type, m * n, nan, nan);
  gemm("N", "N", &m, &n, &k, alpha.data(), a.data(), &m, b.data(), &k, beta.data(), c.data(), &m, 1,
       1);
  return c == elements(type, m * n, k, 0);
}

/// Into every third element; those between must still be NaN, bit for bit.
bool gemv_ignores_nan(BlasRoutines::Gemv gemv, DType type, int m, int k) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const int one = 1, gap = 3;
  const auto a = elements(type, m * k, 1, 0), x = elements(type, k, 1, 0);
  const auto alpha = elements(type, 1, 1, 0), beta = elements(type, 1, 0, 0);
  const auto sum = elements(type, 1, k, 0);
  auto y = elements(type, m * gap, nan, nan), expected = y;
  for (int i = 0; i < m; ++i)
    std::copy(sum.begin(), sum.end(),
              expected.begin() + static_cast<std::ptrdiff_t>(sum.size()) * i * gap);
  gemv("N", &m, &k, alpha.data(), a.data(), &m, x.data(), &one, beta.data(), y.data(), &gap, 1);
  return y == expected;
}

}  // namespace

void BlasLibrary::fail(const std::string& what) const {
  throw Error(ErrorCode::backend_failure, "the BLAS '" + path_ + "' cannot be used: " + what);
}

std::unique_ptr<BlasLibrary> BlasLibrary::open(const std::string& path) {
  std::unique_ptr<BlasLibrary> library(new BlasLibrary(path));
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = dlerror();
    library->fail(reason ? reason : "the loader gives no reason");
  }
  ExitGate::guard_opened_library();
  library->find_routines(handle);
  library->ask_about_itself(handle);
  library->self_test();
  return library;
}

void BlasLibrary::find_routines(void* handle) {
  std::string missing;
  const auto find = [&](auto& routine, const std::string& name) {
    routine = symbol<std::remove_reference_t<decltype(routine)>>(handle, name);
    if (routine == nullptr) missing += (missing.empty() ? "" : ", ") + name;
  };
  for (const DType type : kDTypes) {
    const auto t = static_cast<std::size_t>(type);
    find(routines_.gemm[t], std::string(1, kPrefixes[t]) + "gemm_");
    find(routines_.gemv[t], std::string(1, kPrefixes[t]) + "gemv_");
  }
  find(routines_.dot_f32, "sdot_");
  find(routines_.dot_f64, "ddot_");
  if (!missing.empty())
    fail("it has no " + missing + " (a Fortran interface with 32-bit integers is needed)");
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
  kind_ = "BLAS";
  configuration_ = text("openblas_get_config");
  core_name_ = text("openblas_get_corename");
  if (configuration_.find("USE64BITINT") != std::string::npos)
    fail("its integers have 64 bits, those of einjit's calls 32 (" + configuration_ + ")");
  if (const auto parallel = symbol<Number>(handle, "openblas_get_parallel")) {
    kind_ = "OpenBLAS";
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

void BlasLibrary::self_test() const {
  constexpr int kSizes[][3] = {{5, 3, 7}, {130, 70, 300}};  // m, n, k: one tile, and blocked
  const Call calls(*this);
  for (const DType type : kDTypes)
    for (const auto& [m, n, k] : kSizes) {
      const auto t = static_cast<std::size_t>(type);
      const std::string size = std::to_string(m) + " x " + std::to_string(k);
      const auto refuse = [&](const char* routine, const std::string& shape) {
        fail(std::string(1, kPrefixes[t]) + routine + " of " + shape +
             " ones into a NaN-filled result at beta = 0 is wrong, so it reads what it should only "
             "write");
      };
      if (!gemm_ignores_nan(routines_.gemm[t], type, m, n, k))
        refuse("gemm", size + " by " + std::to_string(k) + " x " + std::to_string(n));
      if (!gemv_ignores_nan(routines_.gemv[t], type, m, k)) refuse("gemv", size);
    }
}

std::string BlasLibrary::describe() const {
  std::string text = kind_;
  if (!configuration_.empty()) text += ", " + configuration_;
  if (!core_name_.empty()) text += ", core " + core_name_;
  if (parallel_ >= 0)
    text += parallel_ == 0 ? ", serial build" : parallel_ == 1 ? ", own threads" : ", OpenMP";
  if (!thread_safe_) text += ", called by one thread at a time";
  return text + ", " + path_;
}

}  // namespace einjit
