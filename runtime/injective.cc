// Injectivity of strided views (CONTRACTS §2.1).
//
// Axes sorted by |stride|: one whose |stride| exceeds the span of all smaller ones cannot make two
// indices meet, whatever lies above it; the same holds from the top down, where an axis that is
// separate may be set aside. Only an interleaved rest is enumerated.
#include "runtime/injective.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

namespace einjit {
namespace {

constexpr std::size_t kMostAxes = 256;
constexpr std::int64_t kMostAddresses = std::int64_t{1} << 22;  // enumerated before giving up

struct Axis {
  std::uint64_t stride;  // its size; the sign moves addresses, it makes none meet
  std::int64_t extent;
};

/// All addresses of the rest, sorted: two equal ones meet.
Injectivity enumerate(std::span<const Axis> axes) {
  std::int64_t count = 1;
  for (const Axis& axis : axes)
    if (__builtin_mul_overflow(count, axis.extent, &count) || count > kMostAddresses)
      return Injectivity::undecided;
  std::vector<std::uint64_t> addresses{0};
  addresses.reserve(static_cast<std::size_t>(count));
  for (const Axis& axis : axes) {
    const std::size_t before = addresses.size();
    for (std::int64_t i = 1; i < axis.extent; ++i)
      for (std::size_t j = 0; j < before; ++j)
        addresses.push_back(addresses[j] + static_cast<std::uint64_t>(i) * axis.stride);
  }
  std::sort(addresses.begin(), addresses.end());
  return std::adjacent_find(addresses.begin(), addresses.end()) == addresses.end()
             ? Injectivity::injective
             : Injectivity::overlapping;
}

}  // namespace

Injectivity injectivity(std::span<const std::int64_t> extents,
                        std::span<const std::int64_t> strides) {
  std::array<Axis, kMostAxes> room;
  std::size_t rank = 0;
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return Injectivity::injective;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 1) continue;
    if (strides[i] == 0) return Injectivity::overlapping;
    if (rank == kMostAxes) return Injectivity::undecided;
    const std::uint64_t size = strides[i] < 0 ? 0 - static_cast<std::uint64_t>(strides[i])
                                              : static_cast<std::uint64_t>(strides[i]);
    room[rank++] = {size, extents[i]};
  }
  const auto axes = std::span(room).first(rank);
  std::sort(axes.begin(), axes.end(),
            [](const Axis& x, const Axis& y) { return x.stride < y.stride; });
  // Separate from below: every axis up to here steps over all smaller ones together.
  std::uint64_t span = 0;
  std::size_t interleaved_end = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (axes[i].stride <= span) interleaved_end = i + 1;
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(axes[i].extent - 1), axes[i].stride,
                               &reach) ||
        __builtin_add_overflow(span, reach, &span) || span > static_cast<std::uint64_t>(INT64_MAX))
      return Injectivity::undecided;  // the span must fit ptrdiff_t
  }
  if (interleaved_end == 0) return Injectivity::injective;
  return enumerate(axes.first(interleaved_end));
}

}  // namespace einjit
