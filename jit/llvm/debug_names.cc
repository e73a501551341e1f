// GDB's JIT compilation interface, and perf's map of a process.
#include "jit/llvm/debug_names.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "einjit/error.h"

// What GDB looks for in every library, by these names and in this form (GDB's manual, "JIT
// Compilation Interface"). LLVM has a pair of its own, but version 19 never takes an entry from its
// list.
extern "C" {
struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  std::uint64_t symfile_size;
};
struct jit_descriptor {
  std::uint32_t version;
  std::uint32_t action_flag;
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};
[[gnu::visibility("protected"), gnu::used]] jit_descriptor __jit_debug_descriptor = {1, 0, nullptr,
                                                                                     nullptr};
[[gnu::visibility("protected"), gnu::noinline, gnu::used]] void __jit_debug_register_code() {
  asm volatile("" ::: "memory");  // GDB stops here
}
}

namespace einjit::jit {
namespace {

enum GdbAction : std::uint32_t { kNothing, kRegister, kUnregister };
std::mutex gdb_list;

void tell_gdb(GdbAction action, jit_code_entry& entry) {
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_descriptor.relevant_entry = &entry;
  __jit_debug_register_code();
  __jit_debug_descriptor.action_flag = kNothing;
  __jit_debug_descriptor.relevant_entry = nullptr;
}

std::string perf_map_path() { return "/tmp/perf-" + std::to_string(getpid()) + ".map"; }

/// Appends; -1 where it cannot. /tmp is everybody's: no link is followed.
int open_perf_map() {
  return open(perf_map_path().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
              0644);
}

}  // namespace

class GdbEntry {
 public:
  /// GDB wants the object with the address of the section that it stands at.
  GdbEntry(std::string_view object, const EntrySymbol& symbol, std::uint64_t address)
      : object_(object) {
    const std::uint64_t section = address - symbol.offset_bytes;
    std::memcpy(object_.data() + symbol.section_header_bytes + offsetof(Elf64_Shdr, sh_addr),
                &section, sizeof section);
    const std::lock_guard lock(gdb_list);
    entry_ = {__jit_debug_descriptor.first_entry, nullptr, object_.data(), object_.size()};
    if (entry_.next_entry != nullptr) entry_.next_entry->prev_entry = &entry_;
    __jit_debug_descriptor.first_entry = &entry_;
    tell_gdb(kRegister, entry_);
  }
  GdbEntry(const GdbEntry&) = delete;
  GdbEntry& operator=(const GdbEntry&) = delete;
  ~GdbEntry() {
    const std::lock_guard lock(gdb_list);
    (entry_.prev_entry != nullptr ? entry_.prev_entry->next_entry
                                  : __jit_debug_descriptor.first_entry) = entry_.next_entry;
    if (entry_.next_entry != nullptr) entry_.next_entry->prev_entry = entry_.prev_entry;
    tell_gdb(kUnregister, entry_);
  }

 private:
  std::string object_;
  jit_code_entry entry_{};
};

DebugNames DebugNames::from_environment() {
  DebugNames names;
  const char* given = std::getenv("EINJIT_JIT_NAMES");
  const std::string_view choice = given == nullptr ? "" : given;
  if (choice.empty()) return names;
  names.gdb_ = choice == "gdb" || choice == "both";
  names.perf_ = choice == "perf" || choice == "both";
  if (!names.wanted())
    throw Error(ErrorCode::invalid_argument,
                "EINJIT_JIT_NAMES is '" + std::string(choice) + "'; it can be gdb, perf or both");
  if (names.perf_) {
    const int map = open_perf_map();
    if (map < 0)
      throw Error(ErrorCode::io_error,
                  "EINJIT_JIT_NAMES: cannot write " + perf_map_path() + ": " + strerror(errno));
    close(map);
  }
  return names;
}

std::shared_ptr<GdbEntry> DebugNames::announce(std::string_view object, const EntrySymbol& symbol,
                                               std::uint64_t address) const {
  if (perf_) {
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "%" PRIx64 " %" PRIx64 " ", address, symbol.size_bytes);
    const std::string line = numbers + symbol.name + "\n";
    const int map = open_perf_map();  // a forked child has a map of its own
    if (map >= 0) {
      (void)!write(map, line.data(), line.size());
      close(map);
    }
  }
  return gdb_ ? std::make_shared<GdbEntry>(object, symbol, address) : nullptr;
}

}  // namespace einjit::jit
