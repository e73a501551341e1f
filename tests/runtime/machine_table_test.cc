// Machines that nobody measured.
#include <doctest/doctest.h>

#include "einjit/engine.h"
#include "einjit/error.h"

namespace einjit {
namespace {

TEST_CASE("machine table: options win, the text reads back") {
  EngineOptions options;
  options.target_cpu = "haswell";
  options.blas_path = "/no/such/library.so";
  const Machine m = Engine::make(options).machine();
  CHECK(m.target_cpu == "haswell");
  CHECK(m.vector_bytes == 32);
  CHECK_FALSE(m.blas_available);
  CHECK(m.l1_bytes > 0);
  CHECK(m.l2_bytes >= m.l1_bytes);
  CHECK(parse_machine(to_text(m)) == m);
  options.machine = Machine{};
  CHECK(Engine::make(options).machine() == Machine{});
}

TEST_CASE("machine table: an unknown CPU is refused by its name") {
  EngineOptions options;
  options.target_cpu = "z80";
  CHECK_THROWS_WITH_AS((void)Engine::make(options), doctest::Contains("z80"), Error);
}

}  // namespace
}  // namespace einjit
