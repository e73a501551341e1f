// A reported case's call: JSON of tests/cases/README.md → expression, filled buffers, views.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "einjit/einsum.h"
#include "tools/typed_buffer.h"

namespace einjit {

struct ReportedCall {
  std::string text;                    // the string form, where the case has one
  std::optional<Expression> integers;  // the integer form otherwise
  std::vector<TypedBuffer> buffers;
  std::vector<Operand> operands;  // look into `buffers`
  DType result = DType::f64;      // the smallest type that holds the operands

  AnyExpression expression() const {
    return integers ? AnyExpression(*integers) : AnyExpression(text);
  }
};

/// `whole` is the case that a step of a sequence belongs to (else the same object): it gives `fill`
/// and `dtype` where the step has none. Throws dtype_mismatch for types that einjit has not,
/// corrupt_file.
ReportedCall read_call(const nlohmann::json& from, const nlohmann::json& whole);

/// The chain of `n` equal matrices that a case of mode "network" describes.
ReportedCall read_chain(const nlohmann::json& gen, DType type);

/// Where a case's destination lies, and its buffer filled everywhere with the case's `prefill`; or
/// inside an operand's buffer.
struct ReportedOut {
  std::optional<std::size_t> operand;  // whose buffer it shares
  TypedBuffer own;
  std::int64_t offset = 0;
  Dims shape, strides;

  Destination destination(ReportedCall& call, bool initialized);
};
ReportedOut read_out(const nlohmann::json& out, const ReportedCall& call);

}  // namespace einjit
