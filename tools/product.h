// A matrix product with operands of its own and its result known: the load of stress cases.
#pragma once

#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "einjit/einsum.h"

namespace einjit {

class Product {
 public:
  /// m×k by k×n, small integers that depend on `seed`.
  Product(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t seed)
      : m_(m), k_(k), n_(n), a_(numbers(m * k, seed)), b_(numbers(k * n, seed + 1)) {}

  View<double> a() const { return View<double>(a_.data(), {m_, k_}); }
  View<double> b() const { return View<double>(b_.data(), {k_, n_}); }

  std::vector<double> run(const ExecContext& context, const EinsumOptions& options = {}) const {
    const Tensor c = einsum(context, "ij,jk->ik", {Operand(a()), Operand(b())}, options);
    const auto values = c.values<double>();
    return {values.begin(), values.end()};
  }
  std::vector<double> by_loops() const {
    std::vector<double> c(static_cast<std::size_t>(m_ * n_), 0);
    for (std::int64_t i = 0; i < m_; ++i)
      for (std::int64_t j = 0; j < k_; ++j)
        for (std::int64_t l = 0; l < n_; ++l)
          c[static_cast<std::size_t>(i * n_ + l)] +=
              a_[static_cast<std::size_t>(i * k_ + j)] * b_[static_cast<std::size_t>(j * n_ + l)];
    return c;
  }

 private:
  static std::vector<double> numbers(std::int64_t count, std::int64_t seed) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
      values[static_cast<std::size_t>(i)] = static_cast<double>((7 * i + 13 * seed) % 11 - 5);
    return values;
  }
  std::int64_t m_, k_, n_;
  std::vector<double> a_, b_;
};

inline bool same_bits(const std::vector<double>& x, const std::vector<double>& y) {
  return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * 8) == 0);
}

/// The first sentence that several threads' work gave.
class FirstWrong {
 public:
  void report(const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    if (sentence_.empty()) sentence_ = sentence;
  }
  /// Runs work(); errors are sentences too.
  template <class Work>
  void guard(Work work) {
    try {
      work();
    } catch (const std::exception& e) {
      report(e.what());
    }
  }
  std::string sentence() {
    const std::lock_guard lock(mutex_);
    return sentence_;
  }

 private:
  std::mutex mutex_;
  std::string sentence_;
};

}  // namespace einjit
