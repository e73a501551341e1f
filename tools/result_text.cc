// Tensor → text and JSON.
#include "tools/result_text.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "tools/typed_buffer.h"

namespace einjit {
namespace {

template <class Visit>
void for_first(const Tensor& tensor, std::int64_t most, Visit visit) {
  with_element(tensor.type(), [&]<class T>() {
    const auto values = tensor.values<T>();
    const std::int64_t shown = std::min(most, tensor.size());
    for (std::int64_t i = 0; i < shown; ++i)
      visit(i, std::complex<double>(values[static_cast<std::size_t>(i)]));
  });
}

std::string element_text(std::complex<double> x, DType type) {
  const int digits = is_double(type) ? 15 : 7;
  char text[80];
  if (is_complex(type))
    std::snprintf(text, sizeof text, "%.*g%+.*gi", digits, x.real(), digits, x.imag());
  else
    std::snprintf(text, sizeof text, "%.*g", digits, x.real());
  return text;
}

}  // namespace

double norm_of(const Tensor& tensor) {
  double sum = 0;
  for_first(tensor, tensor.size(),
            [&](std::int64_t, std::complex<double> x) { sum += std::norm(x); });
  return std::sqrt(sum);
}

std::string tensor_text(const Tensor& tensor, std::int64_t most) {
  std::string text(name(tensor.type()));
  const Dims& extents = tensor.extents();
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    text += (axis ? "×" : " ") + std::to_string(extents[axis]);
  text += extents.size() == 0 ? " scalar\n" : "\n";
  const std::int64_t row = extents.size() == 0 ? 1 : extents[extents.size() - 1];
  for_first(tensor, most, [&](std::int64_t i, std::complex<double> x) {
    text += element_text(x, tensor.type());
    text += (i + 1) % row == 0 || i + 1 == std::min(most, tensor.size()) ? "\n" : " ";
  });
  if (tensor.size() > most) text += "… " + std::to_string(tensor.size() - most) + " more\n";
  return text;
}

nlohmann::json tensor_json(const Tensor& tensor, std::int64_t most) {
  nlohmann::json head = nlohmann::json::array();
  for_first(tensor, most, [&](std::int64_t, std::complex<double> x) {
    if (is_complex(tensor.type()))
      head.push_back({x.real(), x.imag()});
    else
      head.push_back(x.real());
  });
  const std::vector<std::int64_t> shape(tensor.extents().begin(), tensor.extents().end());
  return {
      {"dtype", name(tensor.type())}, {"shape", shape}, {"norm", norm_of(tensor)}, {"head", head}};
}

}  // namespace einjit
