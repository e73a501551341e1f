// A plan key as words. Labels stand in it by number, so renaming them gives the same key.
#include "einjit/plan.h"
#include "planner/word_list.h"

namespace einjit {

std::vector<std::uint64_t> words_of(const PlanKey& key) {
  std::vector<std::uint64_t> words;
  WordList w(words);
  w.add(key.contraction.axes.size());
  for (const auto& axes : key.contraction.axes) w.add_all(axes);
  w.add_all(key.contraction.output);
  w.add_all(key.contraction.extents);
  w.add(key.contraction.nesting.groups.size());
  for (const auto& group : key.contraction.nesting.groups) w.add_all(group);
  w.add(key.operands.size());
  for (const Layout& l : key.operands) w.add_layout(l.type, l.conj, l.extents, l.strides);
  const Layout& d = key.destination;
  w.add_layout(d.type, d.conj, d.extents, d.strides);
  w.add(static_cast<std::uint64_t>(key.alpha) << 8 | static_cast<std::uint64_t>(key.beta));
  w.add_options(key.options);
  w.add_text(key.machine);
  w.add(static_cast<std::uint64_t>(key.generator));
  return words;
}

std::string default_label_name(LabelId label) {
  if (label < 26) return std::string(1, static_cast<char>('a' + label));
  if (label < 52) return std::string(1, static_cast<char>('A' + label - 26));
  return "#" + std::to_string(label);
}

}  // namespace einjit
