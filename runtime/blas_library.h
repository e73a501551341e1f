// A BLAS that has been tested and may be called: a shared library, or pointers that were
// registered.
//
// path ─open→ BlasLibrary ←of─ BlasProvider; downstream they are the same. A shared library is
// never closed: a BLAS keeps threads and thread-local buffers of its own that must not lose their
// code. Whoever calls a routine holds a BlasLibrary::Call for as long as the call lasts: exit()
// waits for it, and where the library is not known to be safe to call from several threads at once
// it is the only one.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "einjit/blas_provider.h"
#include "runtime/blas_routines.h"
#include "runtime/exit_gate.h"

namespace einjit {

/// Where a shared library with a Fortran BLAS is, and how its symbols and integers look.
struct BlasAddress {
  std::string path;
  std::string symbol_suffix = "_";  // "dgemm" + this
  std::int32_t integer_bits = 32;
};

class BlasLibrary {
 public:
  /// Throws backend_failure naming the path and what the loader, a missing symbol or the self-test
  /// said.
  static std::shared_ptr<const BlasLibrary> open(const BlasAddress& address);
  /// Throws invalid_argument for a provider that says nothing sensible, backend_failure where its
  /// self-test fails.
  static std::shared_ptr<const BlasLibrary> of(const BlasProvider& provider);

  const BlasRoutines& routines() const { return routines_; }
  const std::string& name() const { return name_; }            // the path, or the provider's name
  const std::string& core_name() const { return core_name_; }  // "" if the library does not say
  bool is_thread_safe() const { return thread_safe_; }
  bool ignores_old_content() const { return ignores_old_content_; }
  /// For people: what it is, its core type, how it was built, where it lies.
  std::string describe() const;

  class Call {
   public:
    explicit Call(const BlasLibrary& library) {
      if (!library.thread_safe_) lock_ = std::unique_lock(library.calls_);
    }

   private:
    ExitGate gate_;
    std::unique_lock<std::mutex> lock_;
  };

 private:
  explicit BlasLibrary(std::string name) : name_(std::move(name)) {}
  void find_routines(void* handle, const std::string& suffix);
  void ask_about_itself(void* handle);
  void test_itself() const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_, kind_ = "BLAS", configuration_, core_name_;
  int parallel_ = -1;  // openblas_get_parallel(): 0 serial, 1 own threads, 2 OpenMP
  bool thread_safe_ = false;
  bool ignores_old_content_ = true;
  BlasRoutines routines_;
  mutable std::mutex calls_;
};

}  // namespace einjit
