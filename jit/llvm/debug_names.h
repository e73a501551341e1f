// Telling names of kernels for GDB and perf, where EINJIT_JIT_NAMES asks for them.
//
// gdb: each loaded object stands in the list that GDB reads (its "JIT compilation interface"), for
// as long as it is loaded. perf: a line of /tmp/perf-<pid>.map each. The environment is read when a
// compiler is opened; unset: no names, no list, no file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace einjit::jit {

/// Where the entry of a kernel stands in its object, and how it is called there.
struct EntrySymbol {
  std::string name;
  std::uint64_t size_bytes = 0;
  std::uint64_t offset_bytes = 0;          // in its section
  std::uint64_t section_header_bytes = 0;  // where the section's header stands in the file
};

/// An object in GDB's list; leaves it with this value.
class GdbEntry;

class DebugNames {
 public:
  /// Throws invalid_argument where EINJIT_JIT_NAMES is neither gdb nor perf nor both, io_error
  /// where perf's map cannot be written.
  static DebugNames from_environment();
  bool wanted() const { return gdb_ || perf_; }
  /// Null without gdb.
  std::shared_ptr<GdbEntry> announce(std::string_view object, const EntrySymbol& symbol,
                                     std::uint64_t address) const;

 private:
  bool gdb_ = false, perf_ = false;
};

}  // namespace einjit::jit
