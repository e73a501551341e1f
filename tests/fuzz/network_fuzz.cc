// Fuzzes parse_network: only einjit::Error may escape, and what is read is complete.
//
// Input: the text of a network file. Accepted ones have one shape an input, of its rank, and bind
// to them or are refused for a reason of their expression.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "einjit/error.h"
#include "runtime/network_file.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace einjit;
  try {
    const NetworkFile n = parse_network({reinterpret_cast<const char*>(data), size});
    require(n.shapes.size() == n.expression.inputs.size() && n.expression.output.has_value());
    for (std::size_t i = 0; i < n.shapes.size(); ++i)
      require(n.shapes[i].size() == n.expression.inputs[i].size());
    const std::vector<std::span<const std::int64_t>> shapes(n.shapes.begin(), n.shapes.end());
    resolve(n.expression, shapes, n.sizes);
  } catch (const Error&) {
  }
  return 0;
}
