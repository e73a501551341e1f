// Layouts → tensors of a plan: a repeated label walks the diagonal (its strides added), an axis of
// extent 1 is nowhere. The strides of axes of extent 1 are never read.
#include "planner/simplify.h"

#include <algorithm>

#include "einjit/error.h"

namespace einjit {

PlanTensor merged_tensor(const std::vector<LabelId>& axes, const Layout& layout,
                         const std::vector<std::int64_t>& extents) {
  PlanTensor tensor;
  tensor.type = layout.type;
  tensor.conj = layout.conj && is_complex(layout.type);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (layout.extents[i] == 1 || extents[static_cast<std::size_t>(axes[i])] == 1) continue;
    const auto known = std::find(tensor.labels.begin(), tensor.labels.end(), axes[i]);
    if (known == tensor.labels.end()) {
      tensor.labels.push_back(axes[i]);
      tensor.strides.push_back(layout.strides[i]);
    } else {
      tensor.strides[static_cast<std::size_t>(known - tensor.labels.begin())] += layout.strides[i];
    }
  }
  return tensor;
}

bool writes_diagonal(const Contraction& contraction) {
  std::vector<LabelId> seen;
  for (const LabelId label : contraction.output) {
    if (contraction.extents[static_cast<std::size_t>(label)] == 1) continue;
    if (std::find(seen.begin(), seen.end(), label) != seen.end()) return true;
    seen.push_back(label);
  }
  return false;
}

std::int64_t checked_bytes(const std::vector<std::int64_t>& extents, DType type,
                           const std::function<std::string()>& what) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  auto bytes = static_cast<std::int64_t>(size_bytes(type));
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      throw Error(ErrorCode::size_overflow,
                  what() + " has more than 2^63 bytes; choose another order of contraction");
  return bytes;
}

}  // namespace einjit
