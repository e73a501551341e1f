// Values as a list of 64-bit words: lengths stand before what they count, so different values have
// different words.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "einjit/plan.h"

namespace einjit {

/// Appends to a list that the caller keeps: a list that has grown before allocates nothing.
class WordList {
 public:
  explicit WordList(std::vector<std::uint64_t>& words) : words_(words) { words_.clear(); }

  void add(std::uint64_t word) { words_.push_back(word); }
  template <class Integers>
  void add_all(const Integers& values) {
    add(values.size());
    for (const auto v : values) add(static_cast<std::uint64_t>(v));
  }
  void add_text(std::string_view text) {
    add(text.size());
    for (std::size_t i = 0; i < text.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + i, std::min<std::size_t>(8, text.size() - i));
      add(word);
    }
  }
  /// Strides of axes of extent 1 mean nothing and count as 0; so does conj on reals.
  void add_layout(DType type, bool conj, std::span<const std::int64_t> extents,
                  std::span<const std::int64_t> strides) {
    add(static_cast<std::uint64_t>(type) << 1 | (conj && is_complex(type)));
    add_all(extents);
    add(strides.size());
    for (std::size_t i = 0; i < strides.size(); ++i)
      add(i < extents.size() && extents[i] == 1 ? 0 : static_cast<std::uint64_t>(strides[i]));
  }
  void add_options(const PlanOptions& o) {
    add_text(o.finder);
    add(o.path.has_value());
    if (o.path) {
      add(o.path->size());
      for (const auto& positions : *o.path) add_all(positions);
    }
    add_text(o.backend);
    add_text(o.lowering);
    add(static_cast<std::uint64_t>(o.accuracy));
    add(o.memory_limit_bytes.has_value());
    add(std::bit_cast<std::uint64_t>(o.memory_limit_bytes.value_or(0)));
    add(static_cast<std::uint64_t>(o.threads));
    add(o.seed);
  }

 private:
  std::vector<std::uint64_t>& words_;
};

}  // namespace einjit
