// The label hypergraph of a contraction: axes of extent 1 and broadcast axes dropped, repeats
// merged.
#include <algorithm>
#include <cmath>

#include "einjit/error.h"
#include "einjit/tree.h"

namespace einjit {
namespace {

void sort_unique(std::vector<LabelId>& labels) {
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
}

}  // namespace

Network network_of(const Contraction& contraction) {
  return with_typed_memory_errors([&]() -> Network {
    Network network;
    network.tensors.resize(contraction.axes.size());
    for (std::size_t i = 0; i < contraction.axes.size(); ++i) {
      for (std::size_t axis = 0; axis < contraction.axes[i].size(); ++axis)
        if (contraction.shapes[i][axis] != 1)
          network.tensors[i].push_back(contraction.axes[i][axis]);
      sort_unique(network.tensors[i]);
    }
    for (const LabelId label : contraction.output)
      if (contraction.extents[static_cast<std::size_t>(label)] != 1)
        network.output.push_back(label);
    sort_unique(network.output);
    network.log2_extents.reserve(contraction.extents.size());
    for (const std::int64_t extent : contraction.extents)
      network.log2_extents.push_back(std::log2(static_cast<double>(extent)));
    return network;
  });
}

}  // namespace einjit
