// What a reported case expects of a result, and which alternative einjit takes where libraries
// differ.
#pragma once

#include <complex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "einjit/error.h"
#include "einjit/tensor.h"
#include "tools/typed_buffer.h"

namespace einjit {

/// A result's shape and numbers, row-major.
struct FoundValue {
  DType type = DType::f64;
  std::vector<std::int64_t> shape;
  std::vector<std::complex<double>> numbers;
};
FoundValue value_of(const Tensor& tensor);
FoundValue value_of(const TypedBuffer& buffer, std::int64_t offset, const Dims& shape,
                    const Dims& strides);

/// Empty where the value is what `from` expects in shape, type, data, sums. NaN equals NaN; without
/// `tol` numbers are equal exactly.
std::string value_difference(const nlohmann::json& from, const FoundValue& found);
/// Empty where two values are equal bit for bit (a NaN equals a NaN).
std::string value_difference(const FoundValue& wanted, const FoundValue& found);

/// The code that a case's error class stands for.
ErrorCode code_of_class(const std::string& error_class);

/// Replaces `expect` by the alternative where einjit takes that one.
void take_alternative(nlohmann::json& reported);

}  // namespace einjit
