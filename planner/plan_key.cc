// The digest of a plan key. Labels stand in it by number, so renaming them gives the same key.
#include <bit>

#include "einjit/plan.h"

namespace einjit {
namespace {

class Hash {
 public:
  void add(std::uint64_t v) {
    state_ = (state_ ^ v) * 0x9E3779B97F4A7C15u;
    state_ ^= state_ >> 29;
  }
  template <class T>
  void add_all(const std::vector<T>& values) {
    add(values.size());
    for (const T v : values) add(static_cast<std::uint64_t>(v));
  }
  void add_text(std::string_view text) { add(std::hash<std::string_view>{}(text)); }
  void add_layout(const Layout& layout) {
    add(static_cast<std::uint64_t>(layout.type) << 1 | layout.conj);
    add_all(layout.extents);
    add_all(layout.strides);
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace

std::uint64_t hash_of(const PlanKey& key) noexcept {
  Hash h;
  for (const auto& axes : key.contraction.axes) h.add_all(axes);
  h.add_all(key.contraction.output);
  h.add_all(key.contraction.extents);
  for (const auto& group : key.contraction.nesting.groups) h.add_all(group);
  for (const Layout& layout : key.operands) h.add_layout(layout);
  h.add_layout(key.destination);
  h.add(static_cast<std::uint64_t>(key.alpha) << 8 | static_cast<std::uint64_t>(key.beta));
  const PlanOptions& o = key.options;
  h.add_text(o.finder);
  if (o.path)
    for (const auto& pair : *o.path) h.add_all(pair);
  h.add_text(o.backend);
  h.add_text(o.lowering);
  h.add(static_cast<std::uint64_t>(o.accuracy));
  h.add(o.memory_limit_bytes ? std::bit_cast<std::uint64_t>(*o.memory_limit_bytes) : 1);
  h.add(static_cast<std::uint64_t>(o.threads));
  h.add(o.seed);
  h.add(static_cast<std::uint64_t>(key.generator));
  return h.value();  // the machine is the same for every key of an Engine; equality compares it
}

std::string default_label_name(LabelId label) {
  if (label < 26) return std::string(1, static_cast<char>('a' + label));
  if (label < 52) return std::string(1, static_cast<char>('A' + label - 26));
  return "#" + std::to_string(label);
}

}  // namespace einjit
