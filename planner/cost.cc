// What a tree costs (SPEC "Costs"): flops, tc, sc, rwc of the steps that a plan of it has.
//
// Steps: one a join; before a join's operands, one-operand sums of labels that only this operand
// holds; after the root, a broadcast along output labels that no tensor holds. One operand alone is
// one step. Sums run as doubles, and in log space beside them for what doubles cannot hold.
#include <algorithm>
#include <cmath>
#include <limits>

#include "einjit/error.h"
#include "einjit/tree.h"
#include "planner/label_holders.h"

namespace einjit {
namespace {

constexpr double kExactLog2 = 50;  // below, a product of extents is an integer that a double holds

/// Elements of a label set: their number (may be infinite) and its log2 (−infinity for none).
struct Elements {
  double number = 1;
  double log2 = 0;
};

/// log2 of a sum of terms given by value and log2; 0 where nothing was summed.
class Log2Sum {
 public:
  void add(Elements term) {
    if (term.number == 0) return;
    number_ += term.number;
    if (term.log2 > largest_) {
      scaled_ = scaled_ * std::exp2(largest_ - term.log2) + 1;
      largest_ = term.log2;
    } else {
      scaled_ += std::exp2(term.log2 - largest_);
    }
  }
  double number() const { return number_; }
  double log2() const {
    if (number_ == 0) return 0;
    return std::isfinite(number_) ? std::log2(number_) : largest_ + std::log2(scaled_);
  }

 private:
  double number_ = 0;
  double largest_ = -std::numeric_limits<double>::infinity();
  double scaled_ = 0;
};

class Tally {
 public:
  explicit Tally(const Network& network) : network_(network) {}

  Elements elements(const std::vector<LabelId>& labels) const {
    Elements e;
    for (const LabelId label : labels)
      e.log2 += network_.log2_extents[static_cast<std::size_t>(label)];
    e.number = std::exp2(e.log2);
    if (e.log2 < kExactLog2) e.number = std::round(e.number);
    return e;
  }

  void one_operand(const std::vector<LabelId>& step, const std::vector<LabelId>& read,
                   const std::vector<LabelId>& written) {
    flops_.add(elements(step));
    moved_.add(elements(read));
    write(written);
  }
  void two_operands(const std::vector<LabelId>& a, const std::vector<LabelId>& b,
                    const std::vector<LabelId>& written) {
    std::vector<LabelId> step;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(step));
    const Elements work = elements(step);
    flops_.add(work);
    binary_.add(work);
    moved_.add(elements(a));
    moved_.add(elements(b));
    write(written);
  }
  Costs costs() const { return {flops_.number(), binary_.log2(), largest_, moved_.log2()}; }

 private:
  void write(const std::vector<LabelId>& written) {
    const Elements e = elements(written);
    moved_.add(e);
    largest_ = std::max(largest_, e.log2);
  }

  const Network& network_;
  Log2Sum flops_, binary_, moved_;
  double largest_ = 0;
};

}  // namespace

Costs cost_of(const Network& network, const ContractionTree& tree) {
  return with_typed_memory_errors([&]() -> Costs {
    check_tree(tree, network.tensors.size());
    Tally tally(network);
    const auto with_output = [&](const std::vector<LabelId>& labels) {
      std::vector<LabelId> all;
      std::set_union(labels.begin(), labels.end(), network.output.begin(), network.output.end(),
                     std::back_inserter(all));
      return all;
    };
    if (tree.joins.empty()) {
      const auto& only = network.tensors[0];
      tally.one_operand(with_output(only), only, network.output);
      return tally.costs();
    }
    LabelHolders holders(network);
    std::vector<std::vector<LabelId>> live;
    live.reserve(network.tensors.size() + tree.joins.size());
    for (const auto& tensor : network.tensors) {
      live.push_back(holders.sum_own(tensor));
      if (live.back().size() != tensor.size()) tally.one_operand(tensor, tensor, live.back());
    }
    for (const ContractionTree::Join& join : tree.joins) {
      const std::vector<LabelId> a = std::move(live[static_cast<std::size_t>(join.left)]);
      const std::vector<LabelId> b = std::move(live[static_cast<std::size_t>(join.right)]);
      live.push_back(holders.join(a, b));
      tally.two_operands(a, b, live.back());
    }
    if (live.back() != network.output)
      tally.one_operand(with_output(live.back()), live.back(), network.output);
    return tally.costs();
  });
}

}  // namespace einjit
