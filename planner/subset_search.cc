// The exact search: best[S] = min over splits S = A + B of best[A] + best[B] + product of their
// labels.
//
// Labels of the same tensors act as one ("class"). A subset's open labels are a bit mask over
// classes; products of extents come from tables of eight classes each. A split is priced only if
// the sum of its parts and the subset's own size leave room below the best so far.
#include "planner/subset_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "einjit/error.h"
#include "planner/label_holders.h"

namespace einjit {
namespace {

using Subset = std::uint32_t;

constexpr std::size_t kWordBits = 64;
constexpr std::size_t kByteValues = 256;
constexpr double kMostLog2 = 1000;  // products stay finite below 2^1000

class SubsetSearch {
 public:
  SubsetSearch(const Network& network, const SearchBudget& budget)
      : budget_(budget), tensors_(network.tensors.size()), subsets_(Subset{1} << tensors_) {
    make_classes(network);
    make_products();
    make_open_sets();
  }

  ContractionTree find() {
    best_.assign(subsets_, 0);
    split_.assign(subsets_, 0);
    for (Subset s = 1; s < subsets_; ++s) {
      if ((s & (s - 1)) != 0) find_split(s);
      if ((s & 0xFF) == 0 && budget_.stop && budget_.stop())
        throw Error(ErrorCode::cancelled, "the search for the optimal order was stopped");
    }
    return tree();
  }

 private:
  void make_classes(const Network& network) {
    std::vector<Subset> members(network.log2_extents.size(), 0);
    for (std::size_t t = 0; t < tensors_; ++t)
      for (const LabelId label : network.tensors[t])
        members[static_cast<std::size_t>(label)] |= Subset{1} << t;
    // The output acts as one more tensor, which no subset holds.
    for (const LabelId label : network.output)
      members[static_cast<std::size_t>(label)] |= Subset{1} << tensors_;
    std::map<Subset, double> classes;
    for (std::size_t label = 0; label < members.size(); ++label)
      if (members[label] != 0) classes[members[label]] += network.log2_extents[label];
    double total = 0;
    for (const auto& [member, log2] : classes) {
      members_.push_back(member);
      log2_.push_back(log2);
      total += log2;
    }
    if (total > kMostLog2)  // keeps the order of sizes, which is all that is left to compare
      for (double& log2 : log2_) log2 *= kMostLog2 / total;
    words_ = std::max<std::size_t>(1, (members_.size() + kWordBits - 1) / kWordBits);
  }

  void make_products() {
    std::vector<double> extents(words_ * kWordBits, 1);
    for (std::size_t c = 0; c < log2_.size(); ++c) {
      extents[c] = std::exp2(log2_[c]);
      if (log2_[c] < 50) extents[c] = std::round(extents[c]);
    }
    products_.assign(words_ * 8 * kByteValues, 1);
    for (std::size_t byte = 0; byte < words_ * 8; ++byte)
      for (std::size_t value = 1; value < kByteValues; ++value) {
        double product = 1;
        for (std::size_t bit = 0; bit < 8; ++bit)
          if (value >> bit & 1) product *= extents[8 * byte + bit];
        products_[byte * kByteValues + value] = product;
      }
  }

  void make_open_sets() {
    open_.assign(subsets_ * words_, 0);
    size_.assign(subsets_, 1);
    for (Subset s = 1; s < subsets_; ++s) {
      std::uint64_t* open = &open_[s * words_];
      for (std::size_t c = 0; c < members_.size(); ++c)
        if ((members_[c] & s) != 0 && (members_[c] & ~s) != 0)
          open[c / kWordBits] |= std::uint64_t{1} << (c % kWordBits);
      size_[s] = product_of_union(s, s);
    }
  }

  double product_of_union(Subset a, Subset b) const {
    double product = 1;
    for (std::size_t w = 0; w < words_; ++w) {
      std::uint64_t bits = open_[a * words_ + w] | open_[b * words_ + w];
      for (std::size_t byte = 8 * w; bits != 0; ++byte, bits >>= 8)
        product *= products_[byte * kByteValues + (bits & 0xFF)];
    }
    return product;
  }

  void find_split(Subset s) {
    const Subset lowest = s & (~s + 1), rest = s ^ lowest;
    double best = std::numeric_limits<double>::infinity();
    Subset chosen = rest;
    for (Subset b = rest; b != 0; b = (b - 1) & rest) {
      const double parts = best_[b] + best_[s ^ b];
      if (parts + size_[s] >= best) continue;
      const double cost = parts + product_of_union(b, s ^ b);
      if (cost < best) {
        best = cost;
        chosen = b;
      }
    }
    best_[s] = best;
    split_[s] = chosen;
  }

  ContractionTree tree() const {
    std::vector<Subset> order{subsets_ - 1};  // joins, parents first
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const Subset part : {order[i] ^ split_[order[i]], split_[order[i]]})
        if ((part & (part - 1)) != 0) order.push_back(part);
    ContractionTree tree{static_cast<std::int32_t>(tensors_), {}};
    std::vector<std::int32_t> number(subsets_, -1);
    for (std::size_t t = 0; t < tensors_; ++t)
      number[Subset{1} << t] = static_cast<std::int32_t>(t);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      number[*it] = tree.leaves + static_cast<std::int32_t>(tree.joins.size());
      tree.joins.push_back({number[*it ^ split_[*it]], number[split_[*it]]});
    }
    return tree;
  }

  const SearchBudget& budget_;
  std::size_t tensors_;
  Subset subsets_;
  std::vector<Subset> members_;  // per class: its tensors, and the output as one more
  std::vector<double> log2_;     // per class: the product of its extents
  std::size_t words_ = 1;        // of a mask over classes
  std::vector<double> products_;
  std::vector<std::uint64_t> open_;  // per subset: a mask over classes
  std::vector<double> size_, best_;
  std::vector<Subset> split_;
};

}  // namespace

ContractionTree subset_search(const Network& network, const SearchBudget& budget) {
  if (network.tensors.empty() || network.tensors.size() > kMostSubsetTensors)
    throw std::logic_error("subset_search: " + std::to_string(network.tensors.size()) +
                           " tensors, not 1 to " + std::to_string(kMostSubsetTensors));
  if (network.tensors.size() == 1) return {1, {}};
  return SubsetSearch(joinable_network(network), budget).find();
}

}  // namespace einjit
