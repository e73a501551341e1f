// Uninitialized destinations in mid-write: what has not been written still holds what it held.
//
// A hidden zero-fill pass would be invisible in results; it shows when a call dies half-way. Here
// the operand's lower half lies in memory that cannot be read, so a child process faults in the
// middle of the product, and its handler looks at the destination.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <csignal>
#include <cstring>
#include <string>

#include "einjit/einjit.h"

namespace einjit {
namespace {

constexpr std::int64_t kRows = 512;                         // of 512 f64: a page each
constexpr std::uint64_t kSentinel = 0x7ff4'dead'beef'0001;  // a signalling NaN
std::uint64_t* destination = nullptr;

double* pages(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<double*>(p);
}

extern "C" void look_at_destination(int) {
  for (std::int64_t i = kRows / 2 * kRows; i < kRows * kRows; ++i)
    if (destination[i] != kSentinel) _exit(1);
  _exit(0);
}

/// 0: it faulted with every row of the lower half untouched; 1: touched; 2: no fault; 3: an error.
int fate(const std::string& expression, const std::string& backend) {
  const pid_t child = fork();
  if (child == 0) {
    const std::size_t bytes = kRows * kRows * 8;
    double *a = pages(bytes), *b = pages(bytes), *c = pages(bytes);
    for (std::int64_t i = 0; i < kRows * kRows; ++i) a[i] = b[i] = static_cast<double>(i % 7);
    destination = reinterpret_cast<std::uint64_t*>(c);
    std::fill_n(destination, kRows * kRows, kSentinel);
    try {
      Engine engine = Engine::make();
      const ExecContext context = ExecContext::serial(engine);
      EinsumOptions options;
      options.backend = backend;
      const View<double> va(a, {kRows, kRows}), vb(b, {kRows, kRows});
      const Layout layouts[] = {layout_of(va), layout_of(vb)};
      const PreparedPlan plan = prepare(context, expression, layouts, {}, {}, options);
      mprotect(a + kRows / 2 * kRows, bytes / 2, PROT_NONE);
      std::signal(SIGSEGV, &look_at_destination);
      (void)plan.run(context, {va, vb}, UninitView<double>(c, {kRows, kRows}));
    } catch (...) {
      _exit(3);
    }
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}

TEST_CASE("uninitialized: in mid-write, slots not yet written hold the sentinel") {
  for (const char* expression : {"ij,jk->ik", "ij,ij->ij", "ij,ji->ij"})
    for (const char* backend : {"jit!", "reference"}) {
      CAPTURE(expression);
      CAPTURE(backend);
      CHECK(fate(expression, backend) == 0);
    }
}

/// The last bytes of a page, with one that cannot be read behind it.
template <class T>
T* before_a_wall(std::size_t count) {
  constexpr std::size_t kPage = 4096;
  auto* start = reinterpret_cast<std::byte*>(pages(2 * kPage));
  mprotect(start + kPage, kPage, PROT_NONE);
  T* const at = reinterpret_cast<T*>(start + kPage) - count;
  std::fill_n(at, count, T(1));
  return at;
}

/// OpenBLAS's zgemv for Haswell and SkylakeX read past the end of what it was given.
TEST_CASE("blas: products with a vector read nothing beyond their operands") {
  for (std::int64_t n = 1; n <= 9; ++n)
    for (const char* expression : {"ij,j->i", "ji,j->i"}) {
      CAPTURE(n);
      CAPTURE(expression);
      const pid_t child = fork();
      if (child == 0) {
        const auto un = static_cast<std::size_t>(n);
        const c128 *a = before_a_wall<c128>(un * un), *x = before_a_wall<c128>(un);
        c128* y = before_a_wall<c128>(un);
        Engine engine = Engine::make();
        EinsumOptions options;
        options.backend = "blas";
        einsum_into(ExecContext::serial(engine), expression, MutableView<c128>(y, {n}),
                    {View<c128>(a, {n, n}), View<c128>(x, {n})}, {}, options);
        _exit(y[n - 1] == c128(static_cast<double>(n)) ? 0 : 1);
      }
      int status = 0;
      waitpid(child, &status, 0);
      CHECK(status == 0);
    }
}

}  // namespace
}  // namespace einjit
