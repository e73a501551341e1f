// Does a destination have one address an element?
#pragma once

#include <cstdint>
#include <span>

namespace einjit {

enum class Injectivity : std::uint8_t { injective, overlapping, undecided };

/// Exact within a budget of enumerated addresses; `undecided` beyond it. O(rank²), without
/// allocation, for every view whose axes can be told apart by their spans.
Injectivity injectivity(std::span<const std::int64_t> extents,
                        std::span<const std::int64_t> strides);

}  // namespace einjit
