// The law of loop nests: what a lowering must deliver and the emitter relies on.
#include <algorithm>
#include <stdexcept>

#include "jit/lowering.h"

namespace einjit::jit {

void verify(const LoopNest& nest, const KernelSpec& spec) {
  const auto require = [&](bool holds, const char* law) {
    if (!holds)
      throw std::logic_error(std::string("loop nest: ") + law + ": " + to_text(nest) + " for " +
                             to_text(spec));
  };
  const bool summed = spec.group(AxisGroup::contracted).present;
  require(nest.width >= 1 && (nest.width & (nest.width - 1)) == 0, "a width is a power of two");
  require(nest.vectors >= 1 && nest.rows >= 1, "a tile is not empty");
  require(nest.vector_axis || (nest.width == 1 && nest.vectors == 1), "vectors run along an axis");
  require(nest.row_axis || nest.rows == 1, "rows run along an axis");
  require(nest.row_axis != nest.vector_axis || !nest.row_axis,
          "rows and vectors run along two axes");
  require(!nest.row_axis || *nest.row_axis != AxisGroup::contracted, "rows run along a free axis");
  require((nest.sum == SumForm::none) == !summed, "a sum has a form");
  require(nest.sum != SumForm::chain || spec.sum_order.lanes == 1, "a chain is one lane");
  require((nest.sum == SumForm::lanes_in_vectors) == (nest.vector_axis == AxisGroup::contracted),
          "lanes are vector elements just where vectors run along the contracted axis");
  require(nest.access == accesses(spec, nest.vector_axis),
          "access follows from the stride classes of the vector axis");
  require(
      nest.sum != SumForm::lanes_in_vectors || nest.width * nest.vectors == spec.sum_order.lanes,
      "vectors hold exactly the lanes");
  for (const AxisGroup g : {AxisGroup::batch, AxisGroup::left, AxisGroup::right}) {
    const auto walks = [&](Level level) {
      return std::count_if(nest.loops.begin(), nest.loops.end(), [&](const LoopNest::Loop& l) {
        return l.group == g && l.level == level;
      });
    };
    const GroupSpec& group = spec.group(g);
    require(walks(Level::inner) == group.present, "every free axis has one loop");
    require(walks(Level::outer) == (group.present && group.tabled) &&
                walks(Level::middle) == (group.present && group.tabled),
            "every table has one loop");
  }
  for (const LoopNest::Loop& l : nest.loops) {
    const bool inner = l.level == Level::inner;
    const std::int32_t reach = inner && l.group == nest.vector_axis ? nest.vectors * nest.width
                               : inner && l.group == nest.row_axis  ? nest.rows
                                                                    : 1;
    require(l.step == reach, "a loop steps over its tile");
    require(l.group != AxisGroup::contracted, "the contracted space is walked by the sum");
  }
}

}  // namespace einjit::jit
