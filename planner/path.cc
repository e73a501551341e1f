// Paths in opt_einsum's two forms ↔ contraction trees.
//
// Linear form: positions in a list that shrinks by what a step takes and grows at its end by the
// result. SSA form: operands are 0 … n−1, step i makes n + i. Positions are found by rank in a
// Fenwick tree over slots, so that 100,000 operands convert in O(n log n).
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "einjit/error.h"
#include "einjit/tree.h"
#include "planner/label_holders.h"

namespace einjit {
namespace {

using Steps = std::vector<std::vector<std::int64_t>>;

/// Slots 0 … n−1, some of them filled; the k-th filled slot and the rank of a slot in O(log n).
class FilledSlots {
 public:
  FilledSlots(std::size_t slots, std::size_t filled) : sums_(slots + 1, 0) {
    for (std::size_t i = 1; i <= slots; ++i) {
      sums_[i] += i <= filled ? 1 : 0;
      const std::size_t parent = i + (i & (~i + 1));
      if (parent <= slots) sums_[parent] += sums_[i];
    }
    while (2 * highest_ <= slots) highest_ *= 2;
  }
  void change(std::size_t slot, std::int64_t by) {
    for (std::size_t i = slot + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += by;
  }
  std::int64_t rank(std::size_t slot) const {
    std::int64_t below = 0;
    for (std::size_t i = slot; i > 0; i &= i - 1) below += sums_[i];
    return below;
  }
  std::size_t slot_of(std::int64_t rank) const {
    std::size_t slot = 0;
    for (std::size_t step = highest_; step > 0; step /= 2) {
      if (slot + step < sums_.size() && sums_[slot + step] <= rank) {
        slot += step;
        rank -= sums_[slot];
      }
    }
    return slot;
  }

 private:
  std::vector<std::int64_t> sums_;
  std::size_t highest_ = 1;
};

std::string step_text(const Steps& path, std::size_t step) {
  constexpr std::size_t kShown = 8;
  std::string text = "step " + std::to_string(step) + " of the path, (";
  for (std::size_t i = 0; i < path[step].size() && i < kShown; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(path[step][i]);
  return text + (path[step].size() > kShown ? ", …)" : ")");
}

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ErrorCode::invalid_path, sentence);
}

void check_operands(std::int32_t operands) {
  if (operands < 1)
    refuse("a path for " + std::to_string(operands) + " operands: at least one is needed");
}

void check_not_empty(const Steps& path, std::size_t step) {
  if (path[step].empty())
    refuse(step_text(path, step) + ", takes nothing; a step takes at least one");
}

void check_all_joined(std::int64_t left) {
  if (left != 1)
    refuse("the path ends with " + std::to_string(left) +
           " operands left over; its last step must leave one");
}

/// Joins the tensors from left to right; the result, which for a single one is that tensor.
std::int32_t join_all(ContractionTree& tree, const std::vector<std::int32_t>& tensors) {
  std::int32_t result = tensors[0];
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    tree.joins.push_back({result, tensors[i]});
    result = tree.leaves + static_cast<std::int32_t>(tree.joins.size()) - 1;
  }
  return result;
}

}  // namespace

ContractionTree tree_from_linear(const LinearPath& path, std::int32_t operands) {
  return with_typed_memory_errors([&]() -> ContractionTree {
    check_operands(operands);
    ContractionTree tree{operands, {}};
    const auto n = static_cast<std::size_t>(operands);
    FilledSlots filled(n + path.size(), n);
    std::vector<std::int32_t> tensor_in(n + path.size());
    std::iota(tensor_in.begin(), tensor_in.begin() + operands, 0);
    std::int64_t live = operands;
    for (std::size_t step = 0; step < path.size(); ++step) {
      check_not_empty(path, step);
      std::vector<std::size_t> slots;
      std::vector<std::int32_t> taken;
      for (const std::int64_t position : path[step]) {
        if (position < 0 || position >= live)
          refuse(step_text(path, step) + ", takes position " + std::to_string(position) + " of " +
                 std::to_string(live) + " tensors; positions run from 0 to " +
                 std::to_string(live - 1));
        slots.push_back(filled.slot_of(position));
        taken.push_back(tensor_in[slots.back()]);
      }
      std::vector<std::size_t> sorted = slots;
      std::sort(sorted.begin(), sorted.end());
      if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        refuse(step_text(path, step) + ", takes one position twice");
      for (const std::size_t slot : slots) filled.change(slot, -1);
      tensor_in[n + step] = join_all(tree, taken);
      filled.change(n + step, +1);
      live -= static_cast<std::int64_t>(taken.size()) - 1;
    }
    check_all_joined(live);
    return tree;
  });
}

ContractionTree tree_from_ssa(const SsaPath& path, std::int32_t operands) {
  return with_typed_memory_errors([&]() -> ContractionTree {
    check_operands(operands);
    constexpr std::int32_t kUsed = -1;
    ContractionTree tree{operands, {}};
    std::vector<std::int32_t> tensor_of(static_cast<std::size_t>(operands));
    std::iota(tensor_of.begin(), tensor_of.end(), 0);
    std::int64_t live = operands;
    for (std::size_t step = 0; step < path.size(); ++step) {
      check_not_empty(path, step);
      std::vector<std::int32_t> taken;
      for (const std::int64_t number : path[step]) {
        if (number < 0 || number >= static_cast<std::int64_t>(tensor_of.size()))
          refuse(step_text(path, step) + ", takes tensor " + std::to_string(number) +
                 ", which does not exist yet; there are " + std::to_string(tensor_of.size()));
        taken.push_back(std::exchange(tensor_of[static_cast<std::size_t>(number)], kUsed));
        if (taken.back() == kUsed)
          refuse(step_text(path, step) + ", takes tensor " + std::to_string(number) +
                 ", which was already used");
      }
      tensor_of.push_back(join_all(tree, taken));
      live -= static_cast<std::int64_t>(taken.size()) - 1;
    }
    check_all_joined(live);
    return tree;
  });
}

LinearPath linear_path(const ContractionTree& tree) {
  return with_typed_memory_errors([&]() -> LinearPath {
    check_tree(tree, static_cast<std::size_t>(tree.leaves));
    const auto n = static_cast<std::size_t>(tree.leaves);
    FilledSlots filled(n + tree.joins.size(), n);
    LinearPath path;
    path.reserve(tree.joins.size());
    for (std::size_t i = 0; i < tree.joins.size(); ++i) {
      const auto left = static_cast<std::size_t>(tree.joins[i].left);
      const auto right = static_cast<std::size_t>(tree.joins[i].right);
      path.push_back({filled.rank(left), filled.rank(right)});
      filled.change(left, -1);
      filled.change(right, -1);
      filled.change(n + i, +1);
    }
    return path;
  });
}

SsaPath ssa_path(const ContractionTree& tree) {
  return with_typed_memory_errors([&]() -> SsaPath {
    SsaPath path;
    path.reserve(tree.joins.size());
    for (const ContractionTree::Join& join : tree.joins) path.push_back({join.left, join.right});
    return path;
  });
}

}  // namespace einjit
