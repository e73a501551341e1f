// Loop nests: which lowering takes which step, the text both ways, the law.
#include "jit/loop_nest.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "einjit/error.h"
#include "jit/compiler.h"

using namespace einjit;

namespace {

jit::LoopNest nest_of(std::string_view spec, std::int32_t vector_bytes) {
  return jit::lower(parse_kernel_spec(spec), vector_bytes);
}

constexpr std::string_view kMatrixProduct =
    "f64 a:f64 b:f64 c:f64 left{*:r0r} right{*:0uu} contracted{*:ur0} alpha=1 beta=0 sum=256/1";

const std::vector<std::string_view> kSpecs = {
    kMatrixProduct,
    "f64 a:f64 b:f64 c:f64 contracted{*:uu0} alpha=1 beta=0 sum=256/16",
    "f32 a:f32 c:f32 left{*:r0u} contracted{*+:u00} alpha=1 beta=0 sum=256/32",
    "c64 a:c64 b:c64 c:c64 batch{*+:uuu} alpha=* beta=* sum=256/1",
    "f64 a:f64 c:f64 left{3:r0u} alpha=1 beta=0 sum=256/1",
    "f64 a:f64 b:f64 c:f64 alpha=1 beta=0 sum=256/1",
};

}  // namespace

TEST_CASE("a matrix product is tiled in registers") {
  CHECK(to_text(nest_of(kMatrixProduct, 64)) ==
        "free_vector vector=right*8x3 row=left*8 access=pcc sum=chain "
        "loops=right.inner/24,left.inner/8");
  CHECK(to_text(nest_of(kMatrixProduct, 32)) ==
        "free_vector vector=right*4x3 row=left*4 access=pcc sum=chain "
        "loops=right.inner/12,left.inner/4");
}

TEST_CASE("loop nests read back from their text") {
  for (const std::string_view text : kSpecs)
    for (const std::string_view lowering : jit::lowering_names())
      for (const std::int32_t bytes : {16, 32, 64}) {
        CAPTURE(text);
        KernelSpec spec = parse_kernel_spec(text);
        spec.lowering = lowering;
        const jit::LoopNest nest = jit::lower(spec, bytes);
        CHECK(jit::parse_loop_nest(to_text(nest)) == nest);
      }
  for (const std::string_view wrong :
       {"", "scalar", "scalar vector=-*1x1 row=-*1 access=ppq sum=none loops=",
        "scalar vector=up*1x1 row=-*1 access=ppp sum=none loops=",
        "scalar vector=-*1x1 row=-*1 access=ppp sum=none loops=left.inner"})
    CHECK_THROWS_AS(jit::parse_loop_nest(wrong), Error);
}

TEST_CASE("the law of loop nests refuses what the emitter could not honour") {
  const KernelSpec spec = parse_kernel_spec(kMatrixProduct);
  const jit::LoopNest good = jit::lower(spec, 64);
  const auto refused = [&](auto change) {
    jit::LoopNest nest = good;
    change(nest);
    CHECK_THROWS_AS(jit::verify(nest, spec), std::logic_error);
  };
  refused([](jit::LoopNest& n) { n.width = 3; });
  refused([](jit::LoopNest& n) { n.row_axis = n.vector_axis; });
  refused([](jit::LoopNest& n) { n.loops.pop_back(); });
  refused([](jit::LoopNest& n) { n.loops[0].step = 8; });
  refused([](jit::LoopNest& n) { n.sum = jit::SumForm::none; });
  refused([](jit::LoopNest& n) { n.sum = jit::SumForm::lanes_in_vectors; });
  refused([](jit::LoopNest& n) { n.access[kB] = jit::Access::strided; });
}

TEST_CASE("a name that no lowering has and a destination that cannot be added to are refused") {
  KernelSpec spec = parse_kernel_spec(kMatrixProduct);
  spec.lowering = "vectors";
  CHECK_THROWS_WITH_AS(jit::lower(spec, 64), doctest::Contains("no lowering is named 'vectors'"),
                       Error);
  spec.lowering = "";
  spec.types[kC] = DType::c128;
  CHECK_NOTHROW(jit::lower(spec, 64));
  spec.beta = BetaClass::one;
  CHECK_THROWS_AS(jit::lower(spec, 64), Error);
}
