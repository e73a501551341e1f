// The one door of the jit: KernelSpec → object code → kernel. Free of LLVM's types.
//
// The half behind it that needs LLVM is a module of its own, opened by open_compiler() on first
// need, so that programs which only plan start in milliseconds. Object code holds no address of the
// process that made it and may be loaded by another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "einjit/kernel_abi.h"
#include "einjit/kernel_spec.h"

namespace einjit::jit {

/// A code generator's target: LLVM's name of a CPU, and the widest vectors to use.
struct Target {
  std::string cpu;
  std::int32_t vector_bytes = 16;
  bool operator==(const Target&) const = default;
};

/// Throws Error{invalid_argument} for a CPU that is not in the table, naming those that are.
Target target_named(std::string_view cpu);
/// The row of the table that this CPU's features reach; "x86-64" where it has no FMA: then kernels
/// are refused.
std::string_view host_cpu_name();

/// Code in memory, freed with this object; callers keep it alive while it runs.
class LoadedCode {
 public:
  virtual ~LoadedCode() = default;
  virtual KernelEntry entry() const = 0;
  virtual std::size_t code_bytes() const = 0;  // code and data sections, the whole pages mapped
};

/// Thread-safe. Throws Error{unsupported} for a target without FMA, Error{backend_failure} for what
/// LLVM reports and, at once, after an exception has escaped from LLVM anywhere in this process.
class Compiler {
 public:
  virtual ~Compiler() = default;
  virtual std::string compile_object(const KernelSpec& spec, const Target& target) = 0;
  virtual std::unique_ptr<LoadedCode> load(std::string_view object) = 0;
  virtual std::string llvm_ir(const KernelSpec& spec, const Target& target) = 0;
  virtual std::string assembly(const KernelSpec& spec, const Target& target) = 0;
  /// The law of destinations on the text of llvm_ir(): an overwriting kernel only stores to c.
  /// Every compilation checks it; this is for tests. Throws std::logic_error naming the
  /// instruction.
  virtual void verify_role(const std::string& llvm_ir, const KernelSpec& spec) = 0;
  /// The same of the law of leaves: a kernel never unwinds and calls nothing.
  virtual void verify_leaf(const std::string& llvm_ir) = 0;
};

/// Opens libeinjit_llvm.so beside this library, or the file that EINJIT_LLVM_MODULE names. Throws
/// Error{backend_failure} naming the path and what the loader said. EINJIT_JIT_NAMES (gdb, perf or
/// both) asks for kernels whose symbols tell their spec: objects then hold it, GDB finds them, and
/// /tmp/perf-<pid>.map lists them.
std::unique_ptr<Compiler> open_compiler();

/// The names of all lowerings, and the loop nest of a spec as text.
std::vector<std::string_view> lowering_names();
std::string loop_nest_text(const KernelSpec& spec, const Target& target);

}  // namespace einjit::jit
