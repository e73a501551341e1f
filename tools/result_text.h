// How programs show a tensor: type, shape, norm and its first elements.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "einjit/tensor.h"

namespace einjit {

/// √Σ|x|² in double.
double norm_of(const Tensor& tensor);

/// "f64 2×3", and the elements row by row, at most `most` of them.
std::string tensor_text(const Tensor& tensor, std::int64_t most);

/// dtype, shape, norm and the first `most` elements (complex: [re, im]).
nlohmann::json tensor_json(const Tensor& tensor, std::int64_t most);

}  // namespace einjit
