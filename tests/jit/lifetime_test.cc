// Code in memory, from loading to dropping: never writable and executable, counted as mapped, gone
// when dropped, named where a debugger or a profiler asks.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "einjit/error.h"
#include "jit/compiler.h"

using namespace einjit;

namespace {

constexpr std::string_view kSpecs[] = {
    "f64 a:f64 b:f64 c:f64 contracted{*:uu0} alpha=1 beta=0 sum=256/16",
    "f64 a:f64 b:f64 c:f64 left{*:r0r} right{*:0uu} contracted{*:ur0} alpha=1 beta=0 sum=256/1",
    "c64 a:c64 b:c64 c:c64 left{*:r0r} contracted{*+:rr0} alpha=* beta=* sum=256/16",
    "f32 a:f32 c:f32 left{*+:r0u} alpha=1 beta=0 sum=256/1",
};

jit::Compiler& compiler() {
  static const std::unique_ptr<jit::Compiler> c = jit::open_compiler();
  return *c;
}

std::vector<std::string> objects() {
  std::vector<std::string> all;
  for (const std::string_view spec : kSpecs)
    all.push_back(compiler().compile_object(parse_kernel_spec(spec),
                                            jit::target_named(jit::host_cpu_name())));
  return all;
}

struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  std::string rights, file;
};

std::vector<Mapping> mappings() {
  std::vector<Mapping> all;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    Mapping m;
    std::string offset, device, inode;
    char dash = 0;
    words >> std::hex >> m.begin >> dash >> m.end >> m.rights >> offset >> device >> inode;
    words >> m.file;
    all.push_back(m);
  }
  return all;
}

std::string rights_at(std::uintptr_t address) {
  for (const Mapping& m : mappings())
    if (m.begin <= address && address < m.end) return m.rights;
  return "";
}

std::uintptr_t address_of(const jit::LoadedCode& code) {
  return reinterpret_cast<std::uintptr_t>(code.entry());
}

/// Of no file, readable and not writable: code and constants of kernels, and what else is like
/// them.
std::size_t anonymous_constant_bytes() {
  std::size_t bytes = 0;
  for (const Mapping& m : mappings())
    if (m.file.empty() && (m.rights == "r-xp" || m.rights == "r--p")) bytes += m.end - m.begin;
  return bytes;
}

std::int64_t resident_bytes() {
  malloc_trim(0);
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// A compiler opened under EINJIT_JIT_NAMES.
std::unique_ptr<jit::Compiler> open_with_names(const char* names) {
  setenv("EINJIT_JIT_NAMES", names, 1);
  struct Unset {
    ~Unset() { unsetenv("EINJIT_JIT_NAMES"); }
  } unset;
  return jit::open_compiler();
}

std::string perf_map_path() { return "/tmp/perf-" + std::to_string(getpid()) + ".map"; }

std::string perf_map() {
  std::ifstream file(perf_map_path());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::unique_ptr<jit::LoadedCode> compiled_by(jit::Compiler& c, std::string_view spec) {
  return c.load(c.compile_object(parse_kernel_spec(spec), jit::target_named(jit::host_cpu_name())));
}

// GDB's interface, as its manual has it.
struct GdbEntry {
  GdbEntry *next, *previous;
  const char* object;
  std::uint64_t size_bytes;
};
struct GdbDescriptor {
  std::uint32_t version, action;
  GdbEntry *relevant, *first;
};

/// The list of the jit's module: every library that compiles has one.
const GdbDescriptor& gdb_descriptor() {
  for (const Mapping& m : mappings())
    if (m.file.find("libeinjit_llvm") != std::string::npos) {
      void* module = dlopen(m.file.c_str(), RTLD_NOW | RTLD_NOLOAD);
      REQUIRE(module != nullptr);
      const auto* found = static_cast<GdbDescriptor*>(dlsym(module, "__jit_debug_descriptor"));
      REQUIRE(found != nullptr);
      dlclose(module);
      return *found;
    }
  FAIL("the jit's module is not open");
  throw std::logic_error("unreachable");
}

/// How many objects of GDB's list hold this text.
int gdb_entries_with(std::string_view text) {
  int found = 0;
  for (const GdbEntry* e = gdb_descriptor().first; e != nullptr; e = e->next)
    found += std::string_view(e->object, e->size_bytes).find(text) != std::string_view::npos;
  return found;
}

}  // namespace

TEST_CASE("ten thousand kernels loaded and dropped return the process to its size") {
  // What may stay is the allocator's: fragments, not a page or a mapping a kernel.
#ifdef EINJIT_SANITIZED
  constexpr std::int64_t kMarginBytes = 320
                                        << 20;  // AddressSanitizer keeps 256 MiB of freed memory
#else
  constexpr std::int64_t kMarginBytes = 8 << 20;
#endif
  constexpr std::size_t kMarginMappings = 16;
  const std::vector<std::string> all = objects();
  const auto churn = [&](std::size_t kernels, std::size_t each_compiled) {
    for (std::size_t i = 0; i < kernels; ++i) {
      const auto code = i % each_compiled == 0 ? compiled_by(compiler(), kSpecs[i / 40 % 4])
                                               : compiler().load(all[i % all.size()]);
      REQUIRE(address_of(*code) != 0);
    }
  };
  churn(1000, 10);  // until the allocator has its working set
  const std::int64_t bytes = resident_bytes();
  const std::size_t maps = mappings().size();
  churn(10000, 25);
  const std::int64_t grown = resident_bytes() - bytes;
  MESSAGE("10,000 kernels, 400 of them compiled, left ", grown / 1024, " KiB and ",
          static_cast<std::int64_t>(mappings().size()) - static_cast<std::int64_t>(maps),
          " mappings");
  CHECK(grown < kMarginBytes);
  CHECK(mappings().size() < maps + kMarginMappings);
}

TEST_CASE("no mapping is ever writable and executable") {
  const std::vector<std::string> all = objects();
  std::atomic<int> looks = 0;
  std::string found;
  {
    const std::jthread watcher([&](const std::stop_token& stop) {
      for (; !stop.stop_requested(); ++looks)
        for (const Mapping& m : mappings())
          if (m.rights.find('w') != std::string::npos && m.rights.find('x') != std::string::npos)
            found = m.rights + " " + m.file;
    });
    std::vector<std::unique_ptr<jit::LoadedCode>> kept;
    while (looks < 200) {
      kept.push_back(compiler().load(all[kept.size() % all.size()]));
      if (kept.size() == 500) kept.clear();
    }
  }
  CHECK(found == "");
}

TEST_CASE("code is executable while its kernel lives, and gone with it") {
  for (const std::string& object : objects()) {
    auto code = compiler().load(object);
    const std::uintptr_t at = address_of(*code);
    CHECK(rights_at(at) == "r-xp");
    code.reset();
    CHECK(rights_at(at).find('x') == std::string::npos);
  }
}

TEST_CASE("the bytes that kernels say they take are those that are mapped") {
  for (const std::string& object : objects()) {
    std::vector<std::unique_ptr<jit::LoadedCode>> kept;
    kept.push_back(compiler().load(object));
    const std::size_t before = anonymous_constant_bytes();
    std::size_t said = 0;
    for (int i = 0; i < 20; ++i) {
      kept.push_back(compiler().load(object));
      said += kept.back()->code_bytes();
    }
    CHECK(said > 0);
    CHECK(anonymous_constant_bytes() - before == said);
  }
}

TEST_CASE("kernels never unwind and call nothing") {
  for (const std::string_view text : kSpecs) {
    const std::string ir =
        compiler().llvm_ir(parse_kernel_spec(text), jit::target_named(jit::host_cpu_name()));
    CHECK(ir.find("nounwind") != std::string::npos);
#ifndef EINJIT_JIT_TSAN
    CHECK_NOTHROW(compiler().verify_leaf(ir));
#endif
  }
  const std::string_view throws = "define void @einjit_kernel(ptr %args) {\nret void\n}\n";
  CHECK_THROWS_AS(compiler().verify_leaf(std::string(throws)), std::logic_error);
  const std::string_view calls =
      "declare void @f() nounwind\n"
      "define void @einjit_kernel(ptr %args) nounwind {\ncall void @f()\nret void\n}\n";
  CHECK_THROWS_AS(compiler().verify_leaf(std::string(calls)), std::logic_error);
}

TEST_CASE("an object without a kernel is refused") {
  std::string object = objects()[0];
  const std::string text = "einjit_kernel";
  const std::size_t name = object.find(std::string(1, '\0') + text + '\0');
  REQUIRE(name != std::string::npos);
  object.replace(name + 1, 1, "E");
  CHECK_THROWS_WITH_AS(compiler().load(object), doctest::Contains("without einjit_kernel"), Error);
}

TEST_CASE("names for perf and GDB are a switch, off by default") {
  const std::string spec = std::string(kSpecs[0]);
  const std::string telling =
      "einjit_kernel_f64_a.f64_b.f64_c.f64_contracted{*.uu0}_alpha=1_beta=0_sum=256/16";
  unlink(perf_map_path().c_str());
  {
    const auto unnamed = compiled_by(compiler(), spec);
    CHECK(access(perf_map_path().c_str(), F_OK) != 0);
    CHECK(gdb_descriptor().first == nullptr);
  }
  SUBCASE("perf") {
    const auto named = open_with_names("perf");
    const auto code = compiled_by(*named, spec);
    std::istringstream line(perf_map());
    std::uintptr_t address = 0, bytes = 0;
    line >> std::hex >> address >> bytes;
    std::string name;
    std::getline(line, name);
    CHECK(address == address_of(*code));
    CHECK(bytes > 16);
    CHECK(bytes <= code->code_bytes());
    CHECK(name == " " + telling);
    CHECK(gdb_descriptor().first == nullptr);
    unlink(perf_map_path().c_str());
  }
  SUBCASE("gdb") {
    const auto named = open_with_names("gdb");
    {
      const auto first = compiled_by(*named, spec), second = compiled_by(*named, kSpecs[1]);
      CHECK(gdb_entries_with(telling) == 1);
      CHECK(gdb_entries_with("einjit_kernel_f64") == 2);
    }
    CHECK(gdb_descriptor().first == nullptr);
    CHECK(access(perf_map_path().c_str(), F_OK) != 0);
  }
  SUBCASE("both") {
    const auto named = open_with_names("both");
    const auto code = compiled_by(*named, spec);
    CHECK(perf_map().find(telling) != std::string::npos);
    CHECK(gdb_entries_with(telling) == 1);
    // An object with a name is an object: it runs under a compiler without names, and the reverse.
    const auto again = compiler().load(compiler().compile_object(
        parse_kernel_spec(spec), jit::target_named(jit::host_cpu_name())));
    const auto target = jit::target_named(jit::host_cpu_name());
    CHECK_NOTHROW(compiler().load(named->compile_object(parse_kernel_spec(spec), target)));
    CHECK_NOTHROW(named->load(compiler().compile_object(parse_kernel_spec(spec), target)));
    unlink(perf_map_path().c_str());
  }
  CHECK_THROWS_WITH_AS(open_with_names("yes"), doctest::Contains("gdb, perf or both"), Error);
}
