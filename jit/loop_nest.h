// The loop IR: how the loops of one step run. KernelSpec ─lower→ LoopNest ─emit→ LLVM IR.
//
// A nest is a list of free loops, outermost first, around one tile: `rows` positions of the row
// axis by `vectors` vectors of `width` elements of the vector axis. Inside a tile the contracted
// space is summed in the order of KernelSpec::sum_order, in one of the forms of SumForm. A tile
// that the extents do not fill runs row by row and vector by vector, the last vector under a mask.
// Prints as text and reads back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "einjit/kernel_spec.h"

namespace einjit::jit {

enum class Level : std::uint8_t { outer, middle, inner };

/// How a tensor is read or written along the vector axis.
enum class Access : std::uint8_t { splat, contiguous, strided };

enum class SumForm : std::uint8_t {
  none,              // nothing is contracted: one term
  chain,             // one lane: accumulators of the tile in registers
  lanes_in_memory,   // the vector axis is free: the lanes of every element on the stack
  lanes_in_vectors,  // the vector axis is the contracted inner axis: lanes are vector elements
};

struct LoopNest {
  struct Loop {
    AxisGroup group = AxisGroup::batch;
    Level level = Level::inner;
    std::int32_t step = 1;  // 1, or a tile's reach along the row or the vector axis
    bool operator==(const Loop&) const = default;
  };
  std::string lowering;
  std::optional<AxisGroup> vector_axis;  // inner axis of this group; none: scalar code
  std::int32_t width = 1;                // elements a vector
  std::int32_t vectors = 1;              // a tile
  std::optional<AxisGroup> row_axis;     // inner axis of this group
  std::int32_t rows = 1;                 // a tile
  std::vector<Loop> loops;
  std::array<Access, 3> access{};  // of a, b, c along the vector axis
  SumForm sum = SumForm::none;
  bool operator==(const LoopNest&) const = default;
};

/// By the lowering named in the spec if it accepts the spec, or else the first of the preference
/// list that does. Throws Error{invalid_argument} for an unknown name and Error{unsupported} for a
/// c of another type than the sums' that is not overwritten.
LoopNest lower(const KernelSpec& spec, std::int32_t vector_bytes);

/// The law of loop nests; throws std::logic_error with both sides of the first law that is broken.
void verify(const LoopNest& nest, const KernelSpec& spec);

std::string to_text(const LoopNest& nest);
LoopNest parse_loop_nest(std::string_view text);  // throws Error{corrupt_file}

}  // namespace einjit::jit
