// What one kernel computes, without sizes or addresses: the only thing that crosses from the
// planner to the jit and the backends, and the key under which kernels are shared.
//
// Every step is one loop nest over four groups of axes:
//     c[batch,left,right] = alpha * Σ_contracted a[batch,left,contracted] *
//     b[batch,right,contracted]
//                         + beta * c[batch,left,right]
// Copy, permutation, diagonal (one operand, no contracted), reduction (one operand), pointwise
// (batch), outer product, dot, gemv and gemm are the cases that leave some groups out. Laws:
//  · A group holds an ordered list of fused axes (planner/fuse.cc): the last one is the *inner*
//  axis,
//    walked with strides; the others, if any, are walked through two tables of byte offsets.
//  · No kernel assumes more than element alignment, and none touches an address outside its axes.
//  · beta zero is the role `overwrite`: no load from c. Any other beta is `accumulate`.
//  · The order of each sum is `sum_order`, a function of extents and type alone, for every
//    lowering, vector width and tile.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "einjit/dtype.h"

namespace einjit {

enum class AxisGroup : std::uint8_t { batch, left, right, contracted };
inline constexpr AxisGroup kAxisGroups[] = {AxisGroup::batch, AxisGroup::left, AxisGroup::right,
                                            AxisGroup::contracted};
inline constexpr std::string_view kAxisGroupNames[] = {"batch", "left", "right", "contracted"};

/// The stride of an inner axis in one tensor. `zero` is what a tensor without the axis has; a
/// stride of the user's that happens to be 0 is `zero` too.
enum class StrideClass : std::uint8_t { zero, unit, runtime };

/// a, b, c: index of the three tensors of a step in every array below.
inline constexpr int kA = 0, kB = 1, kC = 2;

struct GroupSpec {
  bool present = false;     // absent: one iteration
  bool tabled = false;      // has further axes, walked through the offset tables
  std::int64_t extent = 0;  // of the inner axis; 0: given at run time
  std::array<StrideClass, 3> strides{};
  bool operator==(const GroupSpec&) const = default;
};

enum class Role : std::uint8_t { overwrite, accumulate };
enum class AlphaClass : std::uint8_t { one, general };
enum class BetaClass : std::uint8_t { zero, one, general };

/// How the terms of one sum are added. The contracted space is `outer × inner` (its inner axis and
/// the rest of its axes in canonical order). Term (o, i) belongs to lane i mod lanes. Blocks: if
/// ceil(inner/lanes) ≥ chain, a block is (one o) × (chain·lanes consecutive i); otherwise it is
/// floor(chain / ceil(inner/lanes)) consecutive o, all i. Inside a block each lane is a chain of
/// fused multiply-adds from zero, o outer, i inner; the lanes are then added by halves (lane l and
/// l + lanes/2, …). Block sums are added in order (lanes = 1), or, with lanes > 1, by the
/// binary-counter tree: block number t joins its equal-sized left neighbours (left + right) while
/// t's low bits are 1, and at the end what is left over is joined from the smallest to the largest
/// (larger + smaller). A complex term is re ← fma(a.re, b.re, re), re ← fma(−a.im, b.im, re), im ←
/// fma(a.re, b.im, im), im ← fma(a.im, b.re, im). A one-operand term is an addition. alpha
/// multiplies the finished sum; beta · c is added to that (real: fma(beta, c, alpha·sum); complex:
/// both products as above from zero, then one addition).
struct SumOrder {
  std::int32_t chain = 256;
  std::int32_t lanes = 1;
  bool operator==(const SumOrder&) const = default;
};

/// The planner's rule. Matrix forms (left and right both present) have one lane. Reductions, dots
/// and matrix-vector forms have up to 128 bytes of lanes, no more than the inner contracted extent
/// needs.
constexpr SumOrder sum_order_for(DType t, bool matrix_form, std::int64_t inner_contracted_extent) {
  if (matrix_form) return {256, 1};
  const auto most = static_cast<std::int64_t>(128 / size_bytes(t));
  std::int64_t lanes = 1;
  while (lanes < most && lanes < inner_contracted_extent) lanes *= 2;
  return {256, static_cast<std::int32_t>(lanes)};
}

struct KernelSpec {
  DType compute = DType::f64;  // every product and sum is of this type
  std::array<DType, 3> types{DType::f64, DType::f64,
                             DType::f64};  // as stored; c differs from compute only in copies
  bool unary = false;                      // there is no b
  std::array<bool, 2> conj{};              // of a and b; only where they are complex
  std::array<GroupSpec, 4> groups{};       // indexed by AxisGroup
  AlphaClass alpha = AlphaClass::one;
  BetaClass beta = BetaClass::zero;
  SumOrder sum_order{};
  std::string lowering;  // name of a lowering to force; empty: the jit's own preference
  bool operator==(const KernelSpec&) const = default;

  const GroupSpec& group(AxisGroup g) const { return groups[static_cast<std::size_t>(g)]; }
  GroupSpec& group(AxisGroup g) { return groups[static_cast<std::size_t>(g)]; }
  Role role() const { return beta == BetaClass::zero ? Role::overwrite : Role::accumulate; }
};

/// One line, e.g. "f64 a:f64 b:f64 c:f64 left{*:u0r} right{8:0uu} contracted{*+:ru0} alpha=1 beta=0
/// sum=256/1": extent (* at run time), + if tabled, then the stride classes of a, b, c (0 u r).
/// Reads back; parse throws corrupt_file.
std::string to_text(const KernelSpec& spec);
KernelSpec parse_kernel_spec(std::string_view text);

}  // namespace einjit

template <>
struct std::hash<einjit::KernelSpec> {
  std::size_t operator()(const einjit::KernelSpec& spec) const noexcept;
};
