// Buffers of reported cases: fill rules, layouts, destinations.
#include "tools/reported_call.h"

#include <algorithm>

#include "tools/case_json.h"
#include "tools/case_values.h"

namespace einjit {
namespace {

using nlohmann::json;

struct Lie {
  Dims shape, strides;
  std::int64_t offset = 0, length = 0;
};

/// One past the last position that an index reaches; 1 where there is none.
std::int64_t reached_end(const Lie& lie) {
  std::int64_t last = lie.offset;
  for (std::size_t axis = 0; axis < std::min(lie.shape.size(), lie.strides.size()); ++axis)
    if (lie.shape[axis] > 1)
      last += std::max<std::int64_t>(0, (lie.shape[axis] - 1) * lie.strides[axis]);
  return last + 1;
}

Lie read_lie(const json& shape, const json* layout) {
  Lie lie;
  lie.shape = read_dims(shape);
  if (layout == nullptr) {
    lie.strides = Dims::row_major(lie.shape);
    lie.length = 1;
    for (const std::int64_t extent : lie.shape) lie.length *= extent;
    return lie;
  }
  lie.strides = read_dims(layout->at("strides"));
  lie.offset = layout->at("offset").get<std::int64_t>();
  lie.length = layout->contains("buffer_len") ? layout->at("buffer_len").get<std::int64_t>()
                                              : reached_end(lie);
  return lie;
}

DType type_of_operand(const json& from, const json& whole, std::size_t k) {
  const json* types = from.contains("dtype")    ? &from.at("dtype")
                      : whole.contains("dtype") ? &whole.at("dtype")
                                                : nullptr;
  if (types == nullptr) return DType::f64;
  return read_dtype((types->is_array() ? types->at(k) : *types).get<std::string>());
}

void fill_f1(TypedBuffer& buffer, std::int64_t k) {
  for (std::int64_t m = 0; m < buffer.size(); ++m) buffer.set(m, f1_value(m, k));
}

/// The two explicit cases whose buffer is larger than their data say so in words.
void fill_explicit(TypedBuffer& buffer, const json& data) {
  if (data.is_string()) {
    for (std::int64_t m = 0; m < buffer.size(); ++m) buffer.set(m, static_cast<double>(m));
    return;
  }
  for (std::int64_t m = 0; m < buffer.size(); ++m)
    buffer.set(m, m < static_cast<std::int64_t>(data.size())
                      ? read_number(data[static_cast<std::size_t>(m)])
                      : 0.0);
}

void fill(TypedBuffer& buffer, const json& from, const json& whole, std::int64_t k) {
  const std::string rule = from.contains("fill") ? from.at("fill").get<std::string>()
                                                 : whole.value("fill", std::string("F1"));
  if (rule == "F1") return fill_f1(buffer, k);
  if (rule == "explicit") {
    const json& data = from.at("data").at(static_cast<std::size_t>(k));
    return fill_explicit(buffer, data);
  }
  if (!rule.starts_with("constant "))
    throw Error(ErrorCode::corrupt_file, "unknown fill \"" + rule + "\"");
  const double constant = std::stod(rule.substr(9));
  for (std::int64_t m = 0; m < buffer.size(); ++m) buffer.set(m, constant);
}

/// The buffer behind an operand that shares it with its destination, where that is larger.
void widen_shared(const json& from, std::size_t k, Lie& lie) {
  if (!from.contains("out")) return;
  const json& out = from.at("out");
  if (out.value("buffer_of_operand", std::size_t{99}) == k)
    lie.length += out.at("offset").get<std::int64_t>();
  if (from.contains("data") && from.at("data").at(k).is_string()) {  // [:,1:,:] of 3×4×3
    lie.strides = {12, 3, 1};
    lie.offset = 3;
    lie.length = 36;
  }
}

Expression read_integers(const json& from) {
  std::optional<std::vector<Label>> output;
  if (!from.at("out_labels").is_null()) output = from.at("out_labels").get<std::vector<Label>>();
  return make_expression(from.at("labels").get<std::vector<std::vector<Label>>>(), output);
}

}  // namespace

ReportedCall read_call(const json& from, const json& whole) {
  ReportedCall call;
  const json& shapes = from.at("shapes");
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const json* layout = from.contains("layout") ? &from.at("layout").at(k) : nullptr;
    Lie lie = read_lie(shapes[k], layout);
    widen_shared(from, k, lie);
    const DType type = type_of_operand(from, whole, k);
    call.result = k == 0 ? type : promote(call.result, type);
    call.buffers.emplace_back(type, lie.length);
    fill(call.buffers.back(), from, whole, static_cast<std::int64_t>(k));
    call.operands.push_back(call.buffers.back().operand(lie.offset, lie.shape, lie.strides));
  }
  if (from.contains("labels"))
    call.integers = read_integers(from);
  else
    call.text = from.at("expr").get<std::string>();
  return call;
}

ReportedCall read_chain(const json& gen, DType type) {
  const auto n = gen.at("n").get<std::int32_t>();
  std::vector<std::vector<Label>> labels;
  ReportedCall call;
  call.result = type;
  call.buffers.emplace_back(type, 4);
  for (std::int64_t m = 0; m < 4; ++m)
    call.buffers[0].set(m, read_number(gen.at("each")
                                           .at(static_cast<std::size_t>(m / 2))
                                           .at(static_cast<std::size_t>(m % 2))));
  for (std::int32_t i = 0; i < n; ++i) {
    labels.push_back({i, i + 1});
    call.operands.push_back(call.buffers[0].operand({2, 2}));
  }
  call.integers = make_expression(std::move(labels), gen.at("out").get<std::vector<Label>>());
  return call;
}

ReportedOut read_out(const json& out, const ReportedCall& call) {
  const bool same_view = out.contains("same_memory_as_operand");
  if (same_view || out.contains("buffer_of_operand")) {
    const auto k =
        out.at(same_view ? "same_memory_as_operand" : "buffer_of_operand").get<std::size_t>();
    const Operand& operand = call.operands.at(k);
    const auto from_start = reinterpret_cast<const std::byte*>(operand.data) - operand.bounds.begin;
    const std::int64_t offset = from_start / static_cast<std::int64_t>(size_bytes(operand.type));
    return {k, TypedBuffer(call.result, 0),
            same_view ? offset : out.at("offset").get<std::int64_t>(), operand.extents,
            operand.strides};
  }
  const DType type =
      out.contains("dtype") ? read_dtype(out.at("dtype").get<std::string>()) : call.result;
  ReportedOut lie{{},
                  TypedBuffer(type, out.at("buffer_len").get<std::int64_t>()),
                  out.at("offset").get<std::int64_t>(),
                  read_dims(out.at("shape")),
                  read_dims(out.at("strides"))};
  const std::complex<double> prefill = read_number(out.at("prefill"));
  if (prefill != prefill) {
    lie.own.fill_with(Sentinel::payload);
    return lie;
  }
  for (std::int64_t m = 0; m < lie.own.size(); ++m) lie.own.set(m, prefill);
  return lie;
}

Destination ReportedOut::destination(ReportedCall& call, bool initialized) {
  TypedBuffer& buffer = operand ? call.buffers.at(*operand) : own;
  return buffer.destination(offset, shape, strides, initialized);
}

}  // namespace einjit
