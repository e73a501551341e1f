// The modes of reported cases that call einsum.
#include "tools/reported_replay.h"

#include "tools/case_json.h"
#include "tools/reported_call.h"
#include "tools/reported_value.h"

namespace einjit {
namespace {

using nlohmann::json;

std::string eval(const ExecContext& context, const json& reported, const EinsumOptions& options) {
  const ReportedCall call = read_call(reported, reported);
  return value_difference(reported,
                          value_of(einsum(context, call.expression(), call.operands, options)));
}

std::string eval_out(const ExecContext& context, const json& reported,
                     const EinsumOptions& options) {
  const Scalars scalars{read_number(reported.at("alpha")), read_number(reported.at("beta"))};
  for (const bool initialized : {true, false}) {
    if (!initialized && scalars.beta != 0.0) break;
    ReportedCall call = read_call(reported, reported);
    ReportedOut out = read_out(reported.at("out"), call);
    const TypedBuffer before = out.own;
    einsum_into(context, call.expression(), out.destination(call, initialized), call.operands,
                scalars, options);
    std::string wrong =
        value_difference(reported, value_of(out.own, out.offset, out.shape, out.strides));
    if (!wrong.empty()) return wrong;
    std::vector<bool> reached(static_cast<std::size_t>(out.own.size()), false);
    for_each_position(out.shape, out.strides, out.offset,
                      [&](std::int64_t p) { reached[static_cast<std::size_t>(p)] = true; });
    for (std::int64_t p = 0; p < out.own.size(); ++p)
      if (!reached[static_cast<std::size_t>(p)] && !out.own.same_bits(before, p))
        return "element " + std::to_string(p) + ", which no index reaches, was written";
  }
  return {};
}

/// A value must be that of the same call without a limit.
std::string eval_limit(const ExecContext& context, const json& reported,
                       const EinsumOptions& options) {
  const ReportedCall call = read_call(reported, reported);
  const FoundValue wanted = value_of(einsum(context, call.expression(), call.operands, options));
  const ExecContext limited =
      context.with_memory_limit(reported.at("memory_limit_elements").get<double>() *
                                static_cast<double>(size_bytes(call.result)));
  return value_difference(wanted,
                          value_of(einsum(limited, call.expression(), call.operands, options)));
}

/// Steps without data of their own are compared with plain loops.
std::string sequence(const ExecContext& context, const json& reported,
                     const EinsumOptions& options) {
  EinsumOptions plain = options;
  plain.backend = "reference";
  plain.lowering.clear();
  std::size_t number = 0;
  for (const json& step : reported.at("steps")) {
    const ReportedCall call = read_call(step, reported);
    const FoundValue found = value_of(einsum(context, call.expression(), call.operands, options));
    const std::string wrong =
        step.contains("expect_data")
            ? value_difference(step, found)
            : value_difference(value_of(einsum(context, call.expression(), call.operands, plain)),
                               found);
    if (!wrong.empty()) return "step " + std::to_string(number) + ": " + wrong;
    ++number;
  }
  return {};
}

std::string call_once(const ExecContext& context, const json& reported, EinsumOptions options) {
  const std::string mode = reported.at("mode").get<std::string>();
  if (reported.contains("path")) options.path = reported.at("path").get<LinearPath>();
  if (mode == "eval_out") return eval_out(context, reported, options);
  if (mode == "eval_limit") return eval_limit(context, reported, options);
  if (mode == "sequence") return sequence(context, reported, options);
  if (mode == "network") {
    const ReportedCall call = read_chain(reported.at("gen"), DType::f64);
    return value_difference(reported,
                            value_of(einsum(context, call.expression(), call.operands, options)));
  }
  if (reported.contains("gen")) options.path = LinearPath{};  // "an explicit user path []"
  return eval(context, reported, options);
}

}  // namespace

Verdict verdict_of(const json& reported, const std::function<std::string()>& check) {
  const std::string expect = reported.at("expect").get<std::string>();
  const bool value_fits = expect != "error", error_fits = expect != "value";
  const std::string wanted =
      error_fits ? std::string(name(code_of_class(reported.at("error_class").get<std::string>())))
                 : std::string();
  try {
    const std::string wrong = check();
    if (!value_fits) return {Outcome::failed, "expected the error " + wanted + ", found a value"};
    return wrong.empty() ? Verdict{} : Verdict{Outcome::failed, wrong};
  } catch (const Error& e) {
    if (error_fits && wanted == name(e.code())) return {Outcome::expected_error, {}};
    const bool unsupported = value_fits && e.code() == ErrorCode::unsupported;
    return {unsupported ? Outcome::unsupported : Outcome::failed,
            "expected " + (error_fits ? "the error " + wanted : std::string("a value")) +
                ", found " + std::string(name(e.code())) + ": " + e.what()};
  } catch (const std::exception& e) {
    return {Outcome::failed, std::string("an exception that is no einjit::Error: ") + e.what()};
  }
}

CaseVerdict replay_call(const ExecContext& context, const json& reported,
                        const EinsumOptions& options) {
  return {verdict_of(reported, [&] { return call_once(context, reported, options); }), {}};
}

}  // namespace einjit
