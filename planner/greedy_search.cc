// The greedy search, after opt_einsum's: cost = size(result) − w · (size(a) + size(b)).
//
// Four phases: tensors of equal label sets; pairs that share a label to be summed; pairs that share
// any label; the rest, smallest first. Each label keeps its tensors in a linked list (a join moves
// or drops nodes, so lists never grow), and a tensor looks only at its near neighbours in each
// list: a label in thousands of tensors costs no more than one in ten. Every live tensor owns one
// entry of the heap, its best join; an entry whose partner is gone is made anew when it comes up. A
// pair's cost never changes while both live, for a label's last other holder can only leave by
// joining one of them.
#include "planner/greedy_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>

#include "einjit/error.h"
#include "planner/label_holders.h"

namespace einjit {
namespace {

constexpr int kReach = 8;             // neighbours looked at on either side in a label's list
constexpr double kLinearLog2 = 1000;  // sizes below 2^1000 are compared as doubles
constexpr double kExactLog2 = 45;     // sizes below are rounded to the integers they are

class GreedySearch {
 public:
  GreedySearch(const Network& network, const SearchBudget& budget, double operand_weight)
      : network_(network), budget_(budget), weight_(operand_weight) {
    const auto leaves = static_cast<std::int32_t>(network.tensors.size());
    tree_.leaves = leaves;
    in_output_.assign(network.log2_extents.size(), false);
    for (const LabelId label : network.output) in_output_[static_cast<std::size_t>(label)] = true;
    count_.assign(network.log2_extents.size(), 0);
    for (const auto& labels : network.tensors)
      for (const LabelId label : labels) ++count_[static_cast<std::size_t>(label)];
    tensors_.reserve(2 * network.tensors.size());
    make_lists();
    live_ = leaves;
  }

  ContractionTree find() {
    join_equal_sets();
    const auto common = [&](std::size_t label) { return count_[label] == live_; };
    linked_.assign(count_.size(), true);
    for (std::size_t label = 0; label < count_.size(); ++label)
      linked_[label] = !in_output_[label] && !common(label);
    join_linked();
    linked_.assign(count_.size(), true);
    join_linked();
    join_rest();
    return std::move(tree_);
  }

 private:
  struct Hold {
    LabelId label;
    std::int32_t node;
  };
  struct Tensor {
    std::vector<Hold> holds;  // sorted by label
    double log2_size = 0;
    bool live = true;
    std::int32_t looked_at_by = -1;
  };
  struct Node {
    std::int32_t tensor, before, after;
  };
  struct Entry {
    double cost;
    std::int32_t first, second;  // first < second
    std::int32_t owner;
    bool operator>(const Entry& other) const {
      if (cost != other.cost) return cost > other.cost;
      if (first != other.first) return first > other.first;
      return second > other.second;
    }
  };

  Tensor& tensor(std::int32_t id) { return tensors_[static_cast<std::size_t>(id)]; }
  Node& node(std::int32_t id) { return nodes_[static_cast<std::size_t>(id)]; }
  double log2_extent(LabelId label) const {
    return network_.log2_extents[static_cast<std::size_t>(label)];
  }

  /// Tensors of a label stand in its list by size, then by number.
  void make_lists() {
    std::vector<std::vector<std::int32_t>> holders(count_.size());
    for (std::size_t t = 0; t < network_.tensors.size(); ++t) {
      tensors_.emplace_back();
      for (const LabelId label : network_.tensors[t]) {
        tensors_[t].holds.push_back({label, -1});
        tensors_[t].log2_size += log2_extent(label);
        holders[static_cast<std::size_t>(label)].push_back(static_cast<std::int32_t>(t));
      }
    }
    for (std::size_t label = 0; label < holders.size(); ++label) {
      auto& list = holders[label];
      std::sort(list.begin(), list.end(), [&](std::int32_t a, std::int32_t b) {
        return std::pair(tensor(a).log2_size, a) < std::pair(tensor(b).log2_size, b);
      });
      std::int32_t before = -1;
      for (const std::int32_t t : list) {
        const auto made = static_cast<std::int32_t>(nodes_.size());
        nodes_.push_back({t, before, -1});
        if (before >= 0) node(before).after = made;
        find_hold(tensor(t), static_cast<LabelId>(label))->node = made;
        before = made;
      }
    }
  }

  static Hold* find_hold(Tensor& t, LabelId label) {
    const auto it = std::lower_bound(t.holds.begin(), t.holds.end(), label,
                                     [](const Hold& h, LabelId l) { return h.label < l; });
    return it != t.holds.end() && it->label == label ? &*it : nullptr;
  }

  void unlink(std::int32_t id) {
    const Node gone = node(id);
    if (gone.before >= 0) node(gone.before).after = gone.after;
    if (gone.after >= 0) node(gone.after).before = gone.before;
  }

  void check_stop() {
    if (++moves_ % 256 == 0 && budget_.stop && budget_.stop())
      throw Error(ErrorCode::cancelled, "the greedy search for an order was stopped");
  }

  std::int32_t join(std::int32_t a, std::int32_t b) {
    check_stop();
    const auto made = static_cast<std::int32_t>(tensors_.size());
    tensors_.emplace_back();
    Tensor& result = tensors_.back();
    Tensor &left = tensor(a), &right = tensor(b);
    result.holds.reserve(left.holds.size() + right.holds.size());
    auto l = left.holds.begin();
    auto r = right.holds.begin();
    const auto keep = [&](Hold hold) {
      node(hold.node).tensor = made;
      result.holds.push_back(hold);
      result.log2_size += log2_extent(hold.label);
    };
    while (l != left.holds.end() || r != right.holds.end()) {
      if (r == right.holds.end() || (l != left.holds.end() && l->label < r->label)) {
        keep(*l++);
      } else if (l == left.holds.end() || r->label < l->label) {
        keep(*r++);
      } else {
        const auto label = static_cast<std::size_t>(l->label);
        unlink(r++->node);
        if (--count_[label] == 1 && !in_output_[label])
          unlink(l++->node);
        else
          keep(*l++);
      }
    }
    for (Tensor* gone : {&left, &right}) {
      gone->live = false;
      std::vector<Hold>().swap(gone->holds);
    }
    tree_.joins.push_back({std::min(a, b), std::max(a, b)});
    --live_;
    return made;
  }

  static double size_of(double log2) {
    const double size = std::exp2(log2);
    return log2 < kExactLog2 ? std::round(size) : size;
  }

  /// Ordered like size(result) − weight · (size(a) + size(b)), also where sizes pass 2^1000.
  double cost(std::int32_t a, std::int32_t b) {
    Tensor *few = &tensor(a), *many = &tensor(b);
    if (few->holds.size() > many->holds.size()) std::swap(few, many);
    double result = few->log2_size + many->log2_size;
    for (const Hold& hold : few->holds) {
      if (find_hold(*many, hold.label) == nullptr) continue;
      const auto label = static_cast<std::size_t>(hold.label);
      const bool leaves = count_[label] == 2 && !in_output_[label];
      result -= log2_extent(hold.label) * (leaves ? 2 : 1);
    }
    const double largest = std::max({result, few->log2_size, many->log2_size});
    if (largest < kLinearLog2)
      return size_of(result) - weight_ * (size_of(few->log2_size) + size_of(many->log2_size));
    const double scaled =
        std::exp2(result - largest) -
        weight_ * (std::exp2(few->log2_size - largest) + std::exp2(many->log2_size - largest));
    if (scaled == 0) return 0;
    const double log2 = std::max(largest + std::log2(std::abs(scaled)), kLinearLog2);
    return std::copysign(std::exp2(kLinearLog2) * (log2 / kLinearLog2), scaled);
  }

  /// Pushes the best join of this tensor with a neighbour, if it has one.
  void push_best(std::int32_t owner) {
    Entry best{std::numeric_limits<double>::infinity(), -1, -1, owner};
    const auto look_at = [&](std::int32_t other) {
      if (std::exchange(tensor(other).looked_at_by, looks_) == looks_) return;
      const Entry entry{cost(owner, other), std::min(owner, other), std::max(owner, other), owner};
      if (best.first < 0 || best > entry) best = entry;
    };
    ++looks_;
    for (const Hold& hold : tensor(owner).holds) {
      if (!linked_[static_cast<std::size_t>(hold.label)]) continue;
      std::int32_t before = node(hold.node).before, after = node(hold.node).after;
      for (int i = 0; i < kReach && before >= 0; ++i, before = node(before).before)
        look_at(node(before).tensor);
      for (int i = 0; i < kReach && after >= 0; ++i, after = node(after).after)
        look_at(node(after).tensor);
    }
    if (best.first >= 0) heap_.push(best);
  }

  void join_equal_sets() {
    std::map<std::vector<LabelId>, std::vector<std::int32_t>> by_labels;
    for (std::size_t t = 0; t < network_.tensors.size(); ++t)
      by_labels[network_.tensors[t]].push_back(static_cast<std::int32_t>(t));
    std::vector<std::vector<std::int32_t>> groups;
    for (auto& [labels, equal] : by_labels)
      if (equal.size() > 1) groups.push_back(std::move(equal));
    std::sort(groups.begin(), groups.end());
    for (const auto& equal : groups) {
      std::int32_t product = equal[0];
      for (std::size_t i = 1; i < equal.size(); ++i) product = join(product, equal[i]);
    }
  }

  void join_linked() {
    const auto known = static_cast<std::int32_t>(tensors_.size());
    for (std::int32_t t = 0; t < known; ++t)
      if (tensor(t).live) push_best(t);
    while (!heap_.empty()) {
      const Entry entry = heap_.top();
      heap_.pop();
      check_stop();
      if (!tensor(entry.owner).live) continue;
      const std::int32_t partner = entry.owner == entry.first ? entry.second : entry.first;
      push_best(tensor(partner).live ? join(entry.first, entry.second) : entry.owner);
    }
  }

  void join_rest() {
    using Sized = std::pair<double, std::int32_t>;
    std::priority_queue<Sized, std::vector<Sized>, std::greater<>> rest;
    for (std::size_t t = 0; t < tensors_.size(); ++t)
      if (tensors_[t].live) rest.emplace(tensors_[t].log2_size, static_cast<std::int32_t>(t));
    while (rest.size() > 1) {
      const std::int32_t a = rest.top().second;
      rest.pop();
      const std::int32_t b = rest.top().second;
      rest.pop();
      const std::int32_t made = join(a, b);
      rest.emplace(tensor(made).log2_size, made);
    }
  }

  const Network& network_;
  const SearchBudget& budget_;
  double weight_;
  ContractionTree tree_;
  std::vector<Tensor> tensors_;  // by SSA number
  std::vector<Node> nodes_;
  std::vector<std::int32_t> count_;  // per label: live tensors that hold it
  std::vector<bool> in_output_, linked_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
  std::int32_t live_ = 0;
  std::int32_t looks_ = 0;
  std::uint64_t moves_ = 0;
};

}  // namespace

ContractionTree greedy_search(const Network& network, const SearchBudget& budget,
                              double operand_weight) {
  if (network.tensors.empty()) throw std::logic_error("greedy_search: 0 tensors, not 1 or more");
  return GreedySearch(joinable_network(network), budget, operand_weight).find();
}

}  // namespace einjit
