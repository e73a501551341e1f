// Fuzzes parse, both text forms and resolve: only einjit::Error may escape.
//
// Input: the expression's text. Accepted ones must read back from their own text, and are resolved
// with small shapes made from the same bytes; what resolves must find a tree that prints and reads
// back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "einjit/error.h"
#include "einjit/expression.h"
#include "einjit/tree.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void bind(const einjit::Expression& e, std::string_view bytes) {
  std::vector<std::vector<std::int64_t>> shapes;
  std::size_t at = 0;
  const auto next = [&] {
    return bytes.empty() ? 0 : static_cast<unsigned char>(bytes[at++ % bytes.size()]);
  };
  for (const auto& term : e.inputs) {
    shapes.emplace_back();
    for (const einjit::Label label : term) {
      if (label == einjit::kEllipsis)
        shapes.back().resize(shapes.back().size() + next() % 3u, 2);
      else
        shapes.back().push_back(next() % 16u == 0 ? next() % 4u : 2 + label % 2);
    }
  }
  const std::vector<std::span<const std::int64_t>> spans(shapes.begin(), shapes.end());
  const einjit::Contraction c = einjit::resolve(e, spans);
  require(c.extents.size() == c.names.size());
  if (shapes.size() > 64) return;
  const einjit::ContractionTree tree = einjit::find_tree(c, "auto", {});
  require(einjit::parse_tree(einjit::to_text(tree)) == tree);
  require(einjit::tree_from_linear(einjit::linear_path(tree), tree.leaves) == tree);
  einjit::cost_of(einjit::network_of(c), tree);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    require(einjit::parse_text(einjit::to_text(einjit::parse_text(text))) ==
            einjit::parse_text(text));
  } catch (const einjit::Error&) {
  }
  try {
    const einjit::Expression e = einjit::parse(text);
    require(einjit::parse(einjit::to_text(e)) == e);
    bind(e, text);
  } catch (const einjit::Error&) {
  }
  return 0;
}
