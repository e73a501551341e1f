// One record: buffers by the fill rule, the call, an exact comparison.
#include "tools/oracle_replay.h"

#include <cmath>
#include <utility>

#include "tools/case_values.h"
#include "tools/typed_buffer.h"

namespace einjit {
namespace {

TypedBuffer make_buffer(const OracleBuffer& from) {
  TypedBuffer buffer(from.type, from.size);
  if (!from.seed) {
    buffer.fill_with_nan();
    return buffer;
  }
  const auto v = [&](std::int64_t p) {
    return static_cast<double>(oracle_value(p, *from.seed, from.amp));
  };
  for (std::int64_t p = 0; p < from.size; ++p)
    buffer.set(p, is_complex(from.type) ? std::complex<double>(v(2 * p), v(2 * p + 1)) : v(p));
  return buffer;
}

std::string number_text(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

/// The result's numbers in row-major order, and the first of them that is no integer.
struct Numbers {
  std::vector<std::int64_t> values;
  std::string fault;

  void add(double x) {
    const bool whole = std::abs(x) < 9e18 && x == std::floor(x);
    if (!whole && fault.empty())
      fault = "number " + std::to_string(values.size()) + " is " + number_text(x);
    values.push_back(whole ? static_cast<std::int64_t>(x) : 0);
  }
  void add(std::complex<double> x, bool complex) {
    add(x.real());
    if (complex) add(x.imag());
  }
};

std::string list_text(const std::vector<std::int64_t>& values, std::size_t most) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size() && i < most; ++i)
    text += (i ? "," : "") + std::to_string(values[i]);
  return text + (values.size() > most ? ",…]" : "]");
}

/// Empty where the numbers are what the record expects.
std::string difference(const OracleRecord& record, const Numbers& found) {
  if (!record.error.empty()) return {};
  if (!found.fault.empty()) return found.fault + ", every answer is an integer";
  const auto& wanted = record.expect ? *record.expect : record.expect_head;
  if (record.expect && found.values.size() != wanted.size())
    return "expected " + std::to_string(wanted.size()) + " numbers, found " +
           std::to_string(found.values.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (i >= found.values.size() || found.values[i] != wanted[i])
      return "number " + std::to_string(i) + ": expected " + std::to_string(wanted[i]) +
             ", found " + (i < found.values.size() ? std::to_string(found.values[i]) : "none") +
             "; result begins " + list_text(found.values, 8);
  if (record.expect) return {};
  const std::uint64_t hash = fnv1a(found.values);
  if (hash == record.expect_fnv1a) return {};
  char text[96];
  std::snprintf(text, sizeof text, "fnv1a: expected %016llx, found %016llx, the first 8 agree",
                static_cast<unsigned long long>(record.expect_fnv1a),
                static_cast<unsigned long long>(hash));
  return text;
}

/// Empty where only reached elements changed (`reached` empty: none may).
std::string stray_write(const TypedBuffer& before, const TypedBuffer& after,
                        const std::vector<bool>& reached) {
  for (std::int64_t p = 0; p < after.size(); ++p)
    if ((reached.empty() || !reached[static_cast<std::size_t>(p)]) && !after.same_bits(before, p))
      return "element " + std::to_string(p) + " of the destination's buffer changed, " +
             (reached.empty() ? "though the call failed before any work"
                              : "which no index reaches");
  return {};
}

enum class Way { own_tensor, uninitialized, initialized };

const char* way_text(Way way) {
  switch (way) {
    case Way::own_tensor:
      return "einsum()";
    case Way::uninitialized:
      return "into an UninitView";
    case Way::initialized:
      break;
  }
  return "into a MutableView";
}

class Replay {
 public:
  Replay(const ExecContext& context, const OracleRecord& record, const EinsumOptions& options)
      : context_(context), record_(record), options_(options) {
    options_.sizes = record.sizes;
    for (const OracleBuffer& operand : record.operands) buffers_.push_back(make_buffer(operand));
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const OracleBuffer& o = record.operands[i];
      operands_.push_back(buffers_[i].operand(o.offset, o.shape, o.strides, o.conj));
    }
  }

  /// Empty where the call gave the value that the record expects. Throws the call's error.
  std::string run(Way way) {
    Numbers found;
    if (way == Way::own_tensor) {
      const Tensor result = einsum(context_, record_.expression, operands_, options_);
      with_element(result.type(), [&]<class T>() {
        for (const T& x : result.values<T>())
          found.add(std::complex<double>(x), is_complex(result.type()));
      });
      return difference(record_, found);
    }
    const OracleBuffer& out = *record_.out;
    TypedBuffer own = make_buffer(out);
    TypedBuffer& buffer = record_.alias ? buffers_.at(*record_.alias) : own;
    const TypedBuffer before = buffer;
    const Destination destination =
        buffer.destination(out.offset, out.shape, out.strides, way == Way::initialized);
    try {
      einsum_into(context_, record_.expression, destination, operands_,
                  Scalars{record_.alpha, record_.beta}, options_);
    } catch (const Error&) {
      if (std::string stray = stray_write(before, buffer, {}); !stray.empty()) return stray;
      throw;
    }
    std::vector<bool> reached(static_cast<std::size_t>(out.size), false);
    for_each_position(out.shape, out.strides, out.offset, [&](std::int64_t p) {
      reached[static_cast<std::size_t>(p)] = true;
      found.add(buffer.get(p), is_complex(out.type));
    });
    std::string wrong = difference(record_, found);
    return wrong.empty() ? stray_write(before, buffer, reached) : wrong;
  }

 private:
  const ExecContext& context_;
  const OracleRecord& record_;
  EinsumOptions options_;
  std::vector<TypedBuffer> buffers_;
  std::vector<Operand> operands_;
};

std::string found_error(const Error& e) { return std::string(name(e.code())) + ": " + e.what(); }

Verdict replay_once(Replay& replay, const OracleRecord& record, Way way) {
  const auto failed = [&](const std::string& sentence) {
    return Verdict{Outcome::failed, std::string(way_text(way)) + ": " + sentence};
  };
  try {
    const std::string wrong = replay.run(way);
    if (!record.error.empty())
      return failed("expected the error " + record.error + ", found " +
                    (wrong.empty() ? "a value" : wrong));
    return wrong.empty() ? Verdict{} : failed(wrong);
  } catch (const Error& e) {
    if (record.error == name(e.code())) return {Outcome::expected_error, {}};
    if (record.error.empty() && e.code() == ErrorCode::unsupported)
      return {Outcome::unsupported, std::string(way_text(way)) + ": " + e.what()};
    return failed("expected " + (record.error.empty() ? "a value" : "the error " + record.error) +
                  ", found " + found_error(e));
  } catch (const std::exception& e) {
    return failed(std::string("an exception that is no einjit::Error: ") + e.what());
  }
}

}  // namespace

Verdict replay(const ExecContext& context, const OracleRecord& record, const EinsumOptions& options,
               int rounds) {
  std::vector<Way> ways{Way::own_tensor};
  if (record.out) ways = {Way::initialized};
  if (record.out && record.beta == 0.0) ways = {Way::uninitialized, Way::initialized};
  Replay run(context, record, options);
  Verdict verdict;
  for (int round = 0; round < rounds; ++round)
    for (const Way way : ways) {
      verdict = replay_once(run, record, way);
      if (verdict.outcome == Outcome::failed || verdict.outcome == Outcome::unsupported)
        return verdict;
    }
  return verdict;
}

}  // namespace einjit
