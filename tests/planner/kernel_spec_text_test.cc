// Kernel specs and machines as text.
#include <doctest/doctest.h>

#include <random>

#include "einjit/error.h"
#include "einjit/kernel_spec.h"
#include "einjit/machine.h"

namespace einjit {
namespace {

KernelSpec random_spec(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  KernelSpec spec;
  spec.compute = static_cast<DType>(below(4));
  spec.unary = below(2) != 0;
  for (DType& t : spec.types) t = static_cast<DType>(below(4));
  spec.conj = {below(2) != 0, !spec.unary && below(2) != 0};
  if (spec.unary) spec.types[1] = spec.compute;
  for (GroupSpec& group : spec.groups) {
    if (below(2) == 0) continue;
    group.present = true;
    group.tabled = below(2) != 0;
    group.extent = below(2) != 0 ? 0 : static_cast<std::int64_t>(below(4096)) + 1;
    for (StrideClass& s : group.strides) s = static_cast<StrideClass>(below(3));
  }
  spec.alpha = static_cast<AlphaClass>(below(2));
  spec.beta = static_cast<BetaClass>(below(3));
  spec.sum_order = {256, 1 << below(6)};
  if (below(4) == 0) spec.lowering = "loops";
  return spec;
}

TEST_CASE("random specs read back, and equal ones hash equal") {
  std::mt19937_64 random(7);
  for (int n = 0; n < 2000; ++n) {
    const KernelSpec spec = random_spec(random);
    const std::string text = to_text(spec);
    INFO(text);
    const KernelSpec back = parse_kernel_spec(text);
    REQUIRE(back == spec);
    CHECK(std::hash<KernelSpec>{}(back) == std::hash<KernelSpec>{}(spec));
  }
}

TEST_CASE("the text says what the header says") {
  KernelSpec spec;
  spec.group(AxisGroup::left) = {
      true, false, 0, {StrideClass::unit, StrideClass::zero, StrideClass::runtime}};
  spec.group(AxisGroup::right) = {
      true, false, 8, {StrideClass::zero, StrideClass::unit, StrideClass::unit}};
  spec.group(AxisGroup::contracted) = {
      true, true, 0, {StrideClass::runtime, StrideClass::unit, StrideClass::zero}};
  CHECK(
      to_text(spec) ==
      "f64 a:f64 b:f64 c:f64 left{*:u0r} right{8:0uu} contracted{*+:ru0} alpha=1 beta=0 sum=256/1");
}

TEST_CASE("every single change of a spec changes its hash") {
  std::mt19937_64 random(8);
  const KernelSpec plain;
  int different = 0, all = 0;
  for (int n = 0; n < 300; ++n) {
    const KernelSpec other = random_spec(random);
    if (other == plain) continue;
    ++all;
    different += std::hash<KernelSpec>{}(other) != std::hash<KernelSpec>{}(plain);
  }
  CHECK(different == all);
}

TEST_CASE("anything else is a corrupt file") {
  for (const std::string text :
       {"", "f16", "f64 a:f64 c:f99", "f64 left{*:u0}", "f64 left{*:u0x}", "f64 left{-1:u0u}",
        "f64 middle{*:u0u}", "f64 left{*:u0u} left{*:u0u}", "f64 alpha=2",
        "f64 beta=", "f64 sum=256", "f64 sum=0/1", "f64 sum=1/x", "f64 left{*:u0u", "f64\nf64",
        "f64 left{99999999999999999999:u0u}"}) {
    INFO(text);
    try {
      parse_kernel_spec(text);
      FAIL("read");
    } catch (const Error& e) {
      CHECK(e.code() == ErrorCode::corrupt_file);
    }
  }
}

TEST_CASE("machines read back") {
  Machine machine;
  CHECK(parse_machine(to_text(machine)) == machine);
  machine.target_cpu = "skylake-avx512";
  machine.blas_available = true;
  machine.blas_name = "OpenBLAS SKYLAKEX";
  machine.jit_flops_per_second = 1.0 / 3e-11;
  machine.l2_bytes = 1'310'720;
  CHECK(parse_machine(to_text(machine)) == machine);
  CHECK_THROWS_WITH_AS(parse_machine("target_cpu x\nvector_bytes wide\n"),
                       doctest::Contains("line 2"), Error);
}

}  // namespace
}  // namespace einjit
