// Whole tensor networks in JSON files: an expression over integer labels, shapes, and stored paths.
#include "runtime/network_file.h"

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "einjit/error.h"
#include "runtime/file.h"

namespace einjit {
namespace {

using Json = nlohmann::json;
using Extents = std::unordered_map<Label, std::int64_t>;

/// A value of the file and the way to it, for sentences: extents.7, inputs[3][0].
class Node {
 public:
  Node(const Json& value, std::string where, const std::string& file)
      : value_(value), where_(std::move(where)), file_(file) {}

  [[noreturn]] void corrupt(const std::string& what) const {
    throw Error(ErrorCode::corrupt_file,
                file_ + ": " + (where_.empty() ? "the whole" : "'" + where_ + "'") + " " + what);
  }
  [[noreturn]] void is_not(const std::string& wanted) const {
    corrupt("is not " + wanted + " but " + shown());
  }
  bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
  Node at(const std::string& key) const {
    if (!value_.is_object()) is_not("an object");
    const auto found = value_.find(key);
    if (found == value_.end()) corrupt("has no key '" + key + "'");
    return {*found, where_.empty() ? key : where_ + "." + key, file_};
  }
  std::string string() const {
    if (!value_.is_string()) is_not("a string");
    return value_.get<std::string>();
  }
  std::int64_t integer() const {
    if (!value_.is_number_integer() ||
        (value_.is_number_unsigned() &&
         value_.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()))
      is_not("a 64-bit integer");
    return value_.get<std::int64_t>();
  }
  template <class F>
  void each(F&& use) const {
    if (!value_.is_array()) is_not("a list");
    std::size_t i = 0;
    for (const Json& item : value_)
      use(Node(item, where_ + "[" + std::to_string(i++) + "]", file_));
  }
  template <class F>
  void each_key(F&& use) const {
    if (!value_.is_object()) is_not("an object");
    for (const auto& [key, item] : value_.items()) use(key, Node(item, where_ + "." + key, file_));
  }

 private:
  std::string shown() const {
    if (value_.is_structured()) return value_.is_array() ? "a list" : "an object";
    const std::string text = value_.dump(-1, ' ', true, Json::error_handler_t::replace);
    return text.size() > 40 ? text.substr(0, 40) + "…" : text;
  }

  const Json& value_;
  std::string where_;
  const std::string& file_;
};

std::vector<Label> labels_of(const Node& list) {
  std::vector<Label> labels;
  list.each([&](const Node& item) {
    const std::int64_t value = item.integer();
    if (value <= kEllipsis || value > std::numeric_limits<Label>::max())
      item.corrupt("is no label: " + std::to_string(value) + " is outside (-2^31, 2^31)");
    labels.push_back(static_cast<Label>(value));
  });
  return labels;
}

Extents extents_of(const Node& object) {
  Extents extents;
  object.each_key([&](const std::string& key, const Node& item) {
    Label label = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), label);
    if (error != std::errc{} || end != key.data() + key.size() || label == kEllipsis)
      item.corrupt("is no label: a 32-bit integer is one");
    const std::int64_t extent = item.integer();
    if (extent < 0) item.corrupt("is negative: " + std::to_string(extent));
    if (!extents.emplace(label, extent).second)
      item.corrupt("gives label " + std::to_string(label) + " a second extent");
  });
  return extents;
}

std::int64_t extent_of(const Extents& extents, Label label, const Node& holder) {
  const auto found = extents.find(label);
  if (found == extents.end())
    holder.corrupt("holds label " + std::to_string(label) + ", which 'extents' does not have");
  return found->second;
}

LinearPath path_of(const Node& list) {
  LinearPath path;
  list.each([&](const Node& step) {
    path.emplace_back();
    step.each([&](const Node& item) {
      const std::int64_t position = item.integer();
      if (position < 0) item.corrupt("is no position: " + std::to_string(position));
      path.back().push_back(position);
    });
    if (path.back().empty()) step.corrupt("joins nothing");
  });
  return path;
}

NetworkFile network_from(const Node& root) {
  NetworkFile network;
  network.name = root.at("name").string();
  const Node type = root.at("dtype");
  const auto named = dtype_named(type.string());
  if (!named) type.is_not("f32, f64, c64 or c128");
  network.type = *named;
  const Extents extents = extents_of(root.at("extents"));
  std::vector<std::vector<Label>> inputs;
  std::unordered_set<Label> held;
  root.at("inputs").each([&](const Node& input) {
    inputs.push_back(labels_of(input));
    network.shapes.emplace_back();
    for (const Label label : inputs.back()) {
      network.shapes.back().push_back(extent_of(extents, label, input));
      held.insert(label);
    }
  });
  if (inputs.empty()) root.at("inputs").corrupt("is empty");
  const Node output_node = root.at("output");
  std::vector<Label> output = labels_of(output_node);
  for (const Label label : output) {
    const std::int64_t extent = extent_of(extents, label, output_node);
    if (held.insert(label).second) network.sizes.push_back({label, extent});
  }
  network.expression = {std::move(inputs), std::move(output), {}};
  if (root.has("paths"))
    root.at("paths").each_key([&](const std::string& name, const Node& entry) {
      network.paths[name] = path_of(entry.at("path"));
    });
  return network;
}

/// The n-th number of splitmix64's sequence (Steele, Lea, Flood 2014).
std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// 53 random bits as an odd number of 2^-52ths: uniform in (−1, 1), and never 0.
double signed_unit(std::uint64_t bits) {
  const auto odd = static_cast<std::int64_t>(bits >> 11 | 1);
  return static_cast<double>(odd - (std::int64_t{1} << 52)) * 0x1p-52;
}

template <class T>
Tensor drawn(const std::vector<std::int64_t>& extents, std::uint64_t seed) {
  Tensor tensor = Tensor::zeros(dtype_of<T>, Dims(extents));
  const std::uint64_t stream = splitmix64(seed, 0);  // so that neighbouring seeds share no numbers
  T* const values = tensor.view<T>().data();
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const auto n = static_cast<std::uint64_t>(i);
    if constexpr (is_complex(dtype_of<T>)) {
      using R = typename T::value_type;
      values[i] = {static_cast<R>(signed_unit(splitmix64(stream, 2 * n))),
                   static_cast<R>(signed_unit(splitmix64(stream, 2 * n + 1)))};
    } else {
      values[i] = static_cast<T>(signed_unit(splitmix64(stream, n)));
    }
  }
  return tensor;
}

}  // namespace

NetworkFile parse_network(std::string_view text, const std::string& file) {
  return with_typed_memory_errors([&]() -> NetworkFile {
    Json json;
    try {
      json = Json::parse(text);
    } catch (const Json::exception& e) {
      throw Error(ErrorCode::corrupt_file, file + " is no JSON: " + e.what());
    }
    return network_from(Node(json, "", file));
  });
}

NetworkFile read_network(const std::string& path) {
  return with_typed_memory_errors(
      [&]() -> NetworkFile { return parse_network(read_whole_file(path), "'" + path + "'"); });
}

Tensor random_operand(DType type, const std::vector<std::int64_t>& extents, std::uint64_t seed) {
  return with_typed_memory_errors([&]() -> Tensor {
    switch (type) {
      case DType::f32:
        return drawn<float>(extents, seed);
      case DType::f64:
        return drawn<double>(extents, seed);
      case DType::c64:
        return drawn<c64>(extents, seed);
      case DType::c128:
        return drawn<c128>(extents, seed);
    }
    throw Error(ErrorCode::invalid_argument, "random_operand: no such element type");
  });
}

}  // namespace einjit
