// Choosing a lowering, and what lowerings share: KernelSpec → LoopNest.
#include "einjit/error.h"
#include "jit/lowering.h"

namespace einjit::jit {
namespace {

// Tried in this order. A vector along the contracted axis pays only where it is contiguous and no
// free axis is (its own `accepts` says so); otherwise a free axis; scalar loops take what is left.
constexpr std::string_view kPreference[] = {"contracted_vector", "free_vector", "scalar"};

const Lowering* find(std::string_view name) {
  for (const Lowering* lowering : lowering_table())
    if (lowering->name == name) return lowering;
  return nullptr;
}

}  // namespace

LoopNest lower(const KernelSpec& spec, std::int32_t vector_bytes) {
  const DType stored = spec.types[kC];
  if (stored != spec.compute && (spec.role() != Role::overwrite || !holds(stored, spec.compute)))
    throw Error(ErrorCode::unsupported,
                "a kernel that computes in " + std::string(name(spec.compute)) + " cannot " +
                    (spec.role() == Role::overwrite ? "fill" : "add to") + " a destination of " +
                    std::string(name(stored)) + ": " + to_text(spec));
  const Lowering* chosen = nullptr;
  if (!spec.lowering.empty()) {
    chosen = find(spec.lowering);
    if (chosen == nullptr) {
      std::string known;
      for (const Lowering* l : lowering_table())
        known += (known.empty() ? "" : ", ") + std::string(l->name);
      throw Error(ErrorCode::invalid_argument,
                  "no lowering is named '" + spec.lowering + "'; there are: " + known);
    }
    // A forced lowering that cannot take this step leaves it to the preference list: forcing is for
    // tests of a whole network, whose steps differ.
    if (!chosen->accepts(spec)) chosen = nullptr;
  }
  for (std::string_view name : kPreference) {
    if (chosen != nullptr) break;
    const Lowering* candidate = find(name);
    if (candidate != nullptr && candidate->accepts(spec)) chosen = candidate;
  }
  if (chosen == nullptr) throw Error(ErrorCode::unsupported, "no lowering takes " + to_text(spec));
  LoopNest nest = chosen->lower(spec, vector_bytes);
  nest.lowering = chosen->name;
  nest.access = accesses(spec, nest.vector_axis);
  nest.loops = free_loops(spec, nest);
  verify(nest, spec);
  return nest;
}

std::vector<LoopNest::Loop> free_loops(const KernelSpec& spec, const LoopNest& nest) {
  std::vector<LoopNest::Loop> loops;
  constexpr AxisGroup kFree[] = {AxisGroup::batch, AxisGroup::left, AxisGroup::right};
  for (const AxisGroup g : kFree)
    if (spec.group(g).present && spec.group(g).tabled) {
      loops.push_back({g, Level::outer, 1});
      loops.push_back({g, Level::middle, 1});
    }
  for (const AxisGroup g : kFree)
    if (spec.group(g).present && g != nest.vector_axis && g != nest.row_axis)
      loops.push_back({g, Level::inner, 1});
  if (nest.vector_axis && *nest.vector_axis != AxisGroup::contracted)
    loops.push_back({*nest.vector_axis, Level::inner, nest.vectors * nest.width});
  if (nest.row_axis) loops.push_back({*nest.row_axis, Level::inner, nest.rows});
  return loops;
}

std::array<Access, 3> accesses(const KernelSpec& spec, std::optional<AxisGroup> vector_axis) {
  std::array<Access, 3> access{};
  if (!vector_axis) return access;
  const GroupSpec& group = spec.group(*vector_axis);
  for (int t = 0; t < 3; ++t)
    access[static_cast<std::size_t>(t)] =
        group.strides[static_cast<std::size_t>(t)] == StrideClass::zero   ? Access::splat
        : group.strides[static_cast<std::size_t>(t)] == StrideClass::unit ? Access::contiguous
                                                                          : Access::strided;
  return access;
}

std::int32_t vector_width(const KernelSpec& spec, AxisGroup axis, std::int32_t vector_bytes) {
  std::int32_t width = vector_bytes / static_cast<std::int32_t>(size_bytes(real_of(spec.compute)));
  const std::int64_t extent = spec.group(axis).extent;
  if (extent != 0)
    while (width > 1 && width / 2 >= extent) width /= 2;
  return width;
}

}  // namespace einjit::jit
