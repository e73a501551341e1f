// JSON → OracleRecord.
#include "tools/oracle_record.h"

#include <charconv>

#include "tools/case_json.h"

namespace einjit {
namespace {

using nlohmann::json;

OracleBuffer read_buffer(const json& from, DType type) {
  OracleBuffer buffer;
  buffer.type = from.contains("dtype") ? read_dtype(from.at("dtype").get<std::string>()) : type;
  buffer.shape = read_dims(from.at("shape"));
  buffer.strides = read_dims(from.at("strides"));
  buffer.offset = from.at("offset").get<std::int64_t>();
  buffer.size = from.at("size").get<std::int64_t>();
  if (from.contains("seed")) {
    buffer.seed = from.at("seed").get<std::int64_t>();
    buffer.amp = from.at("amp").get<std::int64_t>();
  }
  buffer.conj = from.value("conj", false);
  return buffer;
}

std::uint64_t read_hexadecimal(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (failure != std::errc() || end != text.data() + text.size())
    throw Error(ErrorCode::corrupt_file, "expect_fnv1a \"" + text + "\" is not hexadecimal");
  return value;
}

OracleRecord read_record(const json& from) {
  OracleRecord record;
  record.id = from.value("id", std::string("?"));
  record.expression = from.at("expr").get<std::string>();
  const DType type = read_dtype(from.at("dtype").get<std::string>());
  for (const json& operand : from.at("operands"))
    record.operands.push_back(read_buffer(operand, type));
  if (from.contains("out")) record.out = read_buffer(from.at("out"), type);
  if (from.contains("alpha")) record.alpha = read_number(from.at("alpha"));
  if (from.contains("beta")) record.beta = read_number(from.at("beta"));
  if (from.contains("sizes"))
    for (const auto& [name, extent] : from.at("sizes").items())
      record.sizes.push_back({read_label(name), extent.get<std::int64_t>()});
  if (from.contains("alias")) record.alias = from.at("alias").get<std::size_t>();
  if (from.contains("error")) {
    record.error = from.at("error").get<std::string>();
  } else if (from.contains("expect")) {
    record.expect = from.at("expect").get<std::vector<std::int64_t>>();
  } else {
    record.expect_fnv1a = read_hexadecimal(from.at("expect_fnv1a").get<std::string>());
    record.expect_head = from.at("expect_head").get<std::vector<std::int64_t>>();
  }
  return record;
}

}  // namespace

OracleRecord parse_oracle_record(std::string_view line) {
  try {
    return read_record(json::parse(line));
  } catch (const json::exception& e) {
    throw Error(ErrorCode::corrupt_file, std::string("not an oracle record: ") + e.what());
  }
}

}  // namespace einjit
