// What both forms of case files share: reading JSON fields, with sentences that name the field.
#pragma once

#include <complex>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "einjit/error.h"
#include "einjit/expression.h"
#include "einjit/view.h"

namespace einjit {

inline Dims read_dims(const nlohmann::json& list) {
  return Dims(list.get<std::vector<std::int64_t>>());
}

/// A number or [re, im]; "nan", "inf" and "-inf" as strings.
inline std::complex<double> read_number(const nlohmann::json& value) {
  if (value.is_array()) return {read_number(value.at(0)).real(), read_number(value.at(1)).real()};
  if (!value.is_string()) return value.get<double>();
  const auto text = value.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  throw Error(ErrorCode::corrupt_file, "\"" + text + "\" is neither a number nor nan, inf or -inf");
}

/// The element type that a file names; others than the four are dtype_mismatch.
inline DType read_dtype(const std::string& text) {
  if (const auto type = dtype_named(text)) return *type;
  throw Error(
      ErrorCode::dtype_mismatch,
      "element type \"" + text + "\": einjit has f32, f64, c64 and c128; convert the operand");
}

/// The one label that `text` writes, in the string form.
inline Label read_label(const std::string& text) {
  const Expression expression = parse(text + "->");
  if (expression.inputs.size() != 1 || expression.inputs[0].size() != 1)
    throw Error(ErrorCode::invalid_argument, "\"" + text + "\" is not one label");
  return expression.inputs[0][0];
}

/// Every line of a file; throws io_error.
inline std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::io_error, "cannot read " + path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

}  // namespace einjit
