// Text of loop nests, both ways: one line a nest.
//
// "free_vector vector=right*8x3 row=left*8 access=sc sum=chain loops=right.inner/24 left.inner/8"
#include <array>
#include <charconv>

#include "einjit/error.h"
#include "jit/loop_nest.h"

namespace einjit::jit {
namespace {

constexpr std::string_view kLevels[] = {"outer", "middle", "inner"};
constexpr std::string_view kSums[] = {"none", "chain", "lanes_in_memory", "lanes_in_vectors"};
constexpr std::string_view kAccess = "pcs";  // splat, contiguous, strided

[[noreturn]] void corrupt(std::string_view word) {
  throw Error(ErrorCode::corrupt_file, "loop nest: cannot read '" + std::string(word) + "'");
}

template <class Names>
std::size_t index_of(const Names& names, std::string_view word) {
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (names[i] == word) return i;
  corrupt(word);
}

std::int32_t number(std::string_view word) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) corrupt(word);
  return value;
}

/// Cuts the word up to the separator off the front.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view word = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return word;
}

std::string_view value_of(std::string_view word, std::string_view key) {
  if (!word.starts_with(key) || word.size() <= key.size() || word[key.size()] != '=') corrupt(word);
  return word.substr(key.size() + 1);
}

std::string_view group_name(AxisGroup g) { return kAxisGroupNames[static_cast<std::size_t>(g)]; }

}  // namespace

std::string to_text(const LoopNest& nest) {
  std::string text = nest.lowering;
  const auto axis = [](const std::optional<AxisGroup>& g) {
    return g ? std::string(group_name(*g)) : "-";
  };
  text += " vector=" + axis(nest.vector_axis) + "*" + std::to_string(nest.width) + "x" +
          std::to_string(nest.vectors);
  text += " row=" + axis(nest.row_axis) + "*" + std::to_string(nest.rows) + " access=";
  for (const Access a : nest.access) text += kAccess[static_cast<std::size_t>(a)];
  text += " sum=" + std::string(kSums[static_cast<std::size_t>(nest.sum)]) + " loops=";
  for (const LoopNest::Loop& loop : nest.loops)
    text += (text.back() == '=' ? "" : ",") + std::string(group_name(loop.group)) + "." +
            std::string(kLevels[static_cast<std::size_t>(loop.level)]) + "/" +
            std::to_string(loop.step);
  return text;
}

LoopNest parse_loop_nest(std::string_view text) {
  LoopNest nest;
  const auto axis = [](std::string_view word) -> std::optional<AxisGroup> {
    if (word == "-") return std::nullopt;
    return static_cast<AxisGroup>(index_of(kAxisGroupNames, word));
  };
  nest.lowering = cut(text, ' ');
  std::string_view word = value_of(cut(text, ' '), "vector");
  nest.vector_axis = axis(cut(word, '*'));
  nest.width = number(cut(word, 'x'));
  nest.vectors = number(word);
  word = value_of(cut(text, ' '), "row");
  nest.row_axis = axis(cut(word, '*'));
  nest.rows = number(word);
  word = value_of(cut(text, ' '), "access");
  if (word.size() != 3) corrupt(word);
  for (std::size_t t = 0; t < 3; ++t) {
    const std::size_t at = kAccess.find(word[t]);
    if (at == std::string_view::npos) corrupt(word);
    nest.access[t] = static_cast<Access>(at);
  }
  nest.sum = static_cast<SumForm>(index_of(kSums, value_of(cut(text, ' '), "sum")));
  if (!text.starts_with("loops=")) corrupt(text);
  word = text.substr(6);
  while (!word.empty()) {
    std::string_view loop = cut(word, ',');
    LoopNest::Loop l;
    l.group = static_cast<AxisGroup>(index_of(kAxisGroupNames, cut(loop, '.')));
    l.level = static_cast<Level>(index_of(kLevels, cut(loop, '/')));
    l.step = number(loop);
    nest.loops.push_back(l);
  }
  return nest;
}

}  // namespace einjit::jit
