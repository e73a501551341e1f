// One record of the oracle: a line of JSON (docs/records.md) as a value.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "einjit/dtype.h"
#include "einjit/expression.h"
#include "einjit/view.h"

namespace einjit {

struct OracleBuffer {
  DType type = DType::f64;
  Dims shape, strides;
  std::int64_t offset = 0, size = 0;
  std::optional<std::int64_t> seed;  // absent, for a destination: begins as NaN
  std::int64_t amp = 0;
  bool conj = false;
};

struct OracleRecord {
  std::string id, expression;
  std::vector<OracleBuffer> operands;
  std::optional<OracleBuffer> out;
  std::complex<double> alpha{1, 0}, beta{0, 0};
  std::vector<LabelExtent> sizes;
  std::optional<std::size_t> alias;                 // the destination is this operand's buffer
  std::optional<std::vector<std::int64_t>> expect;  // row-major; complex: re, im
  std::uint64_t expect_fnv1a = 0;                   // without `expect`
  std::vector<std::int64_t> expect_head;
  std::string error;  // the code's name; empty: a value is expected
};

/// Throws corrupt_file naming what is missing or of the wrong kind.
OracleRecord parse_oracle_record(std::string_view line);

}  // namespace einjit
