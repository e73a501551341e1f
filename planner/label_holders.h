// Who still needs a label: the live tensors that hold it, and the output.
//
// This is the one rule of einsum's steps: a label leaves when nobody else needs it. Cost, search
// and nesting all ask it here. Label sets are sorted and unique.
#pragma once

#include <cstdint>
#include <vector>

#include "einjit/tree.h"

namespace einjit {

class LabelHolders {
 public:
  explicit LabelHolders(const Network& network);

  /// Tensors that hold the label, plus one if the output does.
  std::int32_t count(LabelId label) const { return count_[static_cast<std::size_t>(label)]; }

  /// The tensor without the labels that it alone needs; those are gone from then on.
  std::vector<LabelId> sum_own(const std::vector<LabelId>& tensor);
  /// Replaces two tensors by their product, summed over what nobody else needs.
  std::vector<LabelId> join(const std::vector<LabelId>& a, const std::vector<LabelId>& b);

 private:
  std::vector<std::int32_t> count_;
};

/// The network that joins see: labels that one tensor alone needs are summed before, output labels
/// that no tensor holds come after, and extents of 0 count as 1 (a search needs an order, not a
/// zero).
Network joinable_network(const Network& network);

/// Throws std::logic_error unless the tree joins each of `leaves` tensors and each result once.
void check_tree(const ContractionTree& tree, std::size_t leaves);

}  // namespace einjit
