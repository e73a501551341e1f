// Object code as a value: the same bytes every time, complete, fit for another process, freed when
// dropped.
#include "jit/compiler.h"

#include <doctest/doctest.h>
#include <elf.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "einjit/error.h"

using namespace einjit;

namespace {

constexpr std::string_view kDot =
    "f64 a:f64 b:f64 c:f64 contracted{*:uu0} alpha=1 beta=0 sum=256/16";
constexpr std::string_view kSpecs[] = {
    kDot,
    "f64 a:f64 b:f64 c:f64 left{*:r0r} right{*:0uu} contracted{*:ur0} alpha=1 beta=0 sum=256/1",
    "c64 a:c64 b:c64 c:c64 left{*:r0r} contracted{*+:rr0} alpha=* beta=* sum=256/16",
    "f32 a:f32 c:f32 left{*+:r0u} alpha=1 beta=0 sum=256/1",
    "f64 a:f64 c:f64 left{*:r0u} contracted{*:u00} alpha=1 beta=1 sum=256/16",
};

const std::unique_ptr<jit::Compiler>& compiler() {
  static const std::unique_ptr<jit::Compiler> c = jit::open_compiler();
  return c;
}

jit::Target host() { return jit::target_named(jit::host_cpu_name()); }

/// Names that the object needs from elsewhere.
std::vector<std::string> undefined_symbols(const std::string& object) {
  const auto at = [&](auto& value, std::size_t offset) {
    REQUIRE(offset + sizeof(value) <= object.size());
    std::memcpy(&value, object.data() + offset, sizeof(value));
  };
  Elf64_Ehdr head;
  at(head, 0);
  std::vector<Elf64_Shdr> sections(head.e_shnum);
  for (std::size_t i = 0; i < sections.size(); ++i)
    at(sections[i], head.e_shoff + i * sizeof(Elf64_Shdr));
  std::vector<std::string> names;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB) continue;
    for (std::size_t i = 1; i < section.sh_size / sizeof(Elf64_Sym); ++i) {
      Elf64_Sym symbol;
      at(symbol, section.sh_offset + i * sizeof(symbol));
      if (symbol.st_shndx == SHN_UNDEF)
        names.emplace_back(object.data() + sections[section.sh_link].sh_offset + symbol.st_name);
#ifdef EINJIT_JIT_TSAN
      if (!names.empty() && names.back().starts_with("__tsan_")) names.pop_back();
#endif
    }
  }
  return names;
}

double dot(KernelEntry entry, const std::vector<double>& a, const std::vector<double>& b) {
  double c = 0;
  KernelArgs args;
  args.a = reinterpret_cast<const std::byte*>(a.data());
  args.b = reinterpret_cast<const std::byte*>(b.data());
  args.c = reinterpret_cast<std::byte*>(&c);
  args.groups[3].inner = static_cast<std::int64_t>(a.size());
  args.groups[3].stride = {8, 8, 0};
  entry(&args);
  return c;
}

std::int64_t resident_pages() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident;
}

}  // namespace

TEST_CASE("the same spec gives the same bytes, which need nothing from elsewhere") {
  for (const std::string_view text : kSpecs)
    for (const std::string& cpu : {std::string("haswell"), host().cpu}) {
      CAPTURE(text);
      CAPTURE(cpu);
      const KernelSpec spec = parse_kernel_spec(text);
      const jit::Target target = jit::target_named(cpu);
      const std::string object = compiler()->compile_object(spec, target);
      CHECK(compiler()->compile_object(spec, target) == object);
      CHECK(jit::open_compiler()->compile_object(spec, target) == object);
      CHECK(undefined_symbols(object).empty());
      CHECK(compiler()->load(object)->code_bytes() >= 4096);
      CHECK(compiler()->assembly(spec, target).find("einjit_kernel") != std::string::npos);
    }
}

TEST_CASE("an overwriting kernel that reads its destination is refused") {
  for (const std::string_view text : kSpecs) {
    CAPTURE(text);
    KernelSpec spec = parse_kernel_spec(text);
    spec.beta = BetaClass::one;
    const std::string accumulates = compiler()->llvm_ir(spec, host());
    CHECK_NOTHROW(compiler()->verify_role(accumulates, spec));
    spec.beta = BetaClass::zero;
    CHECK_NOTHROW(compiler()->verify_role(compiler()->llvm_ir(spec, host()), spec));
    CHECK_THROWS_AS(compiler()->verify_role(accumulates, spec), std::logic_error);
  }
  // What could hide a read is refused too.
  const std::string head =
      "declare void @f(ptr)\ndefine void @einjit_kernel(ptr %args) {\n"
      "  %p = getelementptr i8, ptr %args, i64 16\n  %c = load ptr, ptr %p\n";
  const KernelSpec spec = parse_kernel_spec(kDot);
  for (const std::string_view body :
       {"%i = ptrtoint ptr %c to i64", "call void @f(ptr %c)", "store ptr %c, ptr %args",
        "%x = atomicrmw add ptr %c, i64 1 seq_cst",
        "%q = getelementptr i8, ptr %c, i64 8\n%x = load double, ptr %q"}) {
    CAPTURE(body);
    CHECK_THROWS_AS(compiler()->verify_role(head + std::string(body) + "\nret void\n}\n", spec),
                    std::logic_error);
  }
  CHECK_NOTHROW(compiler()->verify_role(head + "store double 0.0, ptr %c\nret void\n}\n", spec));
}

TEST_CASE("a target without fused multiply-add is refused, an unknown one too") {
  const KernelSpec spec = parse_kernel_spec(kDot);
  try {
    compiler()->compile_object(spec, jit::target_named("x86-64"));
    FAIL("compiled");
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::unsupported);
  }
  CHECK_THROWS_WITH_AS(jit::target_named("z80"), doctest::Contains("haswell"), Error);
  CHECK_NOTHROW(compiler()->compile_object(spec, host()));
}

TEST_CASE("what is not object code is refused") {
  CHECK_THROWS_AS(compiler()->load("no object"), Error);
  std::string object = compiler()->compile_object(parse_kernel_spec(kDot), host());
  object.resize(100);
  CHECK_THROWS_AS(compiler()->load(object), Error);
}

TEST_CASE("object code of one process runs in another") {
  const char* given = std::getenv("EINJIT_TEST_OBJECT");
  std::vector<double> a(1000), b(1000);
  std::iota(a.begin(), a.end(), 1);
  std::iota(b.begin(), b.end(), -500);
  const double right = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  if (given != nullptr) {  // the other process
    std::ifstream file(given, std::ios::binary);
    std::stringstream object;
    object << file.rdbuf();
    const auto code = compiler()->load(object.str());
    REQUIRE(dot(code->entry(), a, b) == right);
    return;
  }
  std::string path = "/tmp/einjit_object_XXXXXX";
  const int descriptor = mkstemp(path.data());
  REQUIRE(descriptor >= 0);
  const std::string object = compiler()->compile_object(parse_kernel_spec(kDot), host());
  REQUIRE(write(descriptor, object.data(), object.size()) == static_cast<ssize_t>(object.size()));
  close(descriptor);
  const pid_t child = fork();
  if (child == 0) {
    setenv("EINJIT_TEST_OBJECT", path.c_str(), 1);
    execl("/proc/self/exe", "jit_test", "--test-case=object code of one process*", "--minimal",
          nullptr);
    _exit(127);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  unlink(path.c_str());
  CHECK(status == 0);
}

TEST_CASE("kernels that are dropped leave nothing behind") {
  const KernelSpec spec = parse_kernel_spec(kSpecs[3]);
  const std::string object = compiler()->compile_object(spec, host());
  const auto churn = [&](int kernels) {
    for (int i = 0; i < kernels; ++i) {
      const auto code =
          compiler()->load(i % 5 == 0 ? compiler()->compile_object(spec, host()) : object);
      REQUIRE((code->entry() != nullptr));
    }
    malloc_trim(0);
  };
#ifdef EINJIT_SANITIZED
  constexpr std::int64_t kMost = 320 << 8;  // pages: what is freed stays in quarantine for a while
#else
  constexpr std::int64_t kMost = 500;  // less than a page a kernel
#endif
  churn(200);
  const std::int64_t before = resident_pages();
  churn(500);
  CHECK(resident_pages() - before < kMost);
}
