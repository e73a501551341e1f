// Text and hash of kernel specs.
#include "einjit/kernel_spec.h"

#include "planner/word_reader.h"

namespace einjit {
namespace {

constexpr std::string_view kStrides = "0ur";
constexpr std::string_view kAlphas[] = {"1", "*"};
constexpr std::string_view kBetas[] = {"0", "1", "*"};

std::string type_text(const KernelSpec& spec, std::size_t t) {
  std::string text(1, "abc"[t]);
  text += ":" + std::string(name(spec.types[t]));
  if (t < 2 && spec.conj[t]) text += "~";
  return text;
}

void read_group(const WordReader& reader, std::string_view word, KernelSpec& spec) {
  const std::size_t open = word.find('{');
  if (open == std::string_view::npos || word.back() != '}') reader.corrupt(word);
  GroupSpec& group = spec.groups[reader.index_of(kAxisGroupNames, word.substr(0, open))];
  if (group.present) reader.corrupt(word);
  group.present = true;
  std::string_view body = word.substr(open + 1, word.size() - open - 2);
  std::string_view extent = WordReader::cut(body, ':');
  if (extent.ends_with('+')) {
    group.tabled = true;
    extent.remove_suffix(1);
  }
  if (extent != "*") group.extent = reader.number<std::int64_t>(extent);
  if (body.size() != 3 || group.extent < 0) reader.corrupt(word);
  for (std::size_t t = 0; t < 3; ++t) {
    const std::size_t at = kStrides.find(body[t]);
    if (at == std::string_view::npos) reader.corrupt(word);
    group.strides[t] = static_cast<StrideClass>(at);
  }
}

}  // namespace

std::string to_text(const KernelSpec& spec) {
  std::string text(name(spec.compute));
  for (std::size_t t = 0; t < 3; ++t)
    if (t != 1 || !spec.unary) text += " " + type_text(spec, t);
  for (const AxisGroup g : kAxisGroups) {
    const GroupSpec& group = spec.group(g);
    if (!group.present) continue;
    text += " " + std::string(kAxisGroupNames[static_cast<std::size_t>(g)]) + "{";
    text += group.extent == 0 ? "*" : std::to_string(group.extent);
    text += group.tabled ? "+:" : ":";
    for (const StrideClass s : group.strides) text += kStrides[static_cast<std::size_t>(s)];
    text += "}";
  }
  text += " alpha=" + std::string(kAlphas[static_cast<std::size_t>(spec.alpha)]);
  text += " beta=" + std::string(kBetas[static_cast<std::size_t>(spec.beta)]);
  text +=
      " sum=" + std::to_string(spec.sum_order.chain) + "/" + std::to_string(spec.sum_order.lanes);
  if (!spec.lowering.empty()) text += " lowering=" + spec.lowering;
  return text;
}

KernelSpec parse_kernel_spec(std::string_view text) {
  WordReader reader("kernel spec", text);
  KernelSpec spec;
  if (!reader.next_line()) reader.corrupt("");
  const auto type = [&](std::string_view word) {
    return static_cast<DType>(reader.index_of(kDTypeNames, word));
  };
  spec.compute = type(reader.word());
  spec.unary = true;
  spec.types.fill(spec.compute);
  while (!reader.at_end_of_line()) {
    std::string_view word = reader.word();
    if (word.size() > 2 && word[1] == ':') {
      const std::size_t t = std::string_view("abc").find(word[0]);
      if (t == std::string_view::npos) reader.corrupt(word);
      if (t == 1) spec.unary = false;
      if (t < 2 && word.ends_with('~')) {
        spec.conj[t] = true;
        word.remove_suffix(1);
      }
      spec.types[t] = type(word.substr(2));
    } else if (word.starts_with("alpha=")) {
      spec.alpha = static_cast<AlphaClass>(reader.index_of(kAlphas, word.substr(6)));
    } else if (word.starts_with("beta=")) {
      spec.beta = static_cast<BetaClass>(reader.index_of(kBetas, word.substr(5)));
    } else if (word.starts_with("sum=")) {
      word.remove_prefix(4);
      spec.sum_order.chain = reader.number<std::int32_t>(WordReader::cut(word, '/'));
      spec.sum_order.lanes = reader.number<std::int32_t>(word);
      if (spec.sum_order.chain < 1 || spec.sum_order.lanes < 1) reader.corrupt(word);
    } else if (word.starts_with("lowering=")) {
      spec.lowering = word.substr(9);
    } else {
      read_group(reader, word, spec);
    }
  }
  if (reader.next_line()) reader.corrupt(reader.rest_of_line());
  return spec;
}

}  // namespace einjit

std::size_t std::hash<einjit::KernelSpec>::operator()(
    const einjit::KernelSpec& spec) const noexcept {
  using namespace einjit;
  std::uint64_t h = 0xcbf29ce484222325u;
  const auto mix = [&h](std::uint64_t v) { h = (h ^ v) * 0x9E3779B97F4A7C15u, h ^= h >> 29; };
  const auto of = [](auto e) { return static_cast<std::uint64_t>(e); };
  mix(of(spec.compute) | of(spec.types[0]) << 2 | of(spec.types[1]) << 4 | of(spec.types[2]) << 6 |
      of(spec.unary) << 8 | of(spec.conj[0]) << 9 | of(spec.conj[1]) << 10 | of(spec.alpha) << 11 |
      of(spec.beta) << 12 | of(spec.sum_order.lanes) << 16 | of(spec.sum_order.chain) << 32);
  for (const GroupSpec& group : spec.groups)
    mix(of(group.present) | of(group.tabled) << 1 | of(group.strides[0]) << 2 |
        of(group.strides[1]) << 4 | of(group.strides[2]) << 6 | of(group.extent) << 8);
  mix(std::hash<std::string>{}(spec.lowering));
  return h;
}
