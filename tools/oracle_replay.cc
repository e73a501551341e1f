// One record: buffers by the fill rule, the call, an exact comparison.
#include "tools/oracle_replay.h"

#include <cmath>
#include <utility>

#include "tools/case_values.h"
#include "tools/typed_buffer.h"

namespace einjit {
namespace {

std::optional<GuardedSide> guarded_side(const ReplayMode& mode) {
  if (!mode.uninit) return std::nullopt;
  return mode.index % 2 == 0 ? GuardedSide::end : GuardedSide::begin;
}

/// Every side of the guard meets every sentinel: their periods, 2 and 3, share no factor.
Sentinel sentinel_of(const ReplayMode& mode) {
  return mode.uninit ? static_cast<Sentinel>(mode.index % kSentinels) : Sentinel::payload;
}

TypedBuffer make_buffer(const OracleBuffer& from, const ReplayMode& mode) {
  TypedBuffer buffer(from.type, from.size, guarded_side(mode));
  if (!from.seed) {
    buffer.fill_with(sentinel_of(mode));
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

/// Empty where memcheck saw every reached element written.
std::string undefined_element(const OracleBuffer& out, const TypedBuffer& buffer) {
  std::string fault;
  for_each_position(out.shape, out.strides, out.offset, [&](std::int64_t p) {
    if (fault.empty() && !buffer.is_defined(p))
      fault = "element " + std::to_string(p) + " holds nothing that was ever written";
  });
  return fault;
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
  Replay(const ExecContext& context, const OracleRecord& record, const EinsumOptions& options,
         const ReplayMode& mode)
      : context_(context), record_(record), options_(options), mode_(mode) {
    options_.sizes = record.sizes;
    for (const OracleBuffer& operand : record.operands)
      buffers_.push_back(make_buffer(operand, mode));
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
      bits_.assign(result.bytes(), result.bytes() + static_cast<std::size_t>(result.size()) *
                                                        size_bytes(result.type()));
      with_element(result.type(), [&]<class T>() {
        for (const T& x : result.values<T>())
          found.add(std::complex<double>(x), is_complex(result.type()));
      });
      return difference(record_, found);
    }
    const OracleBuffer& out = *record_.out;
    TypedBuffer own = make_buffer(out, mode_);
    TypedBuffer& buffer = record_.alias ? buffers_.at(*record_.alias) : own;
    const TypedBuffer before = buffer;
    const Destination destination =
        buffer.destination(out.offset, out.shape, out.strides, way == Way::initialized);
    const bool undefined = mode_.uninit && way == Way::uninitialized && !record_.alias;
    if (undefined) buffer.mark_undefined();
    try {
      einsum_into(context_, record_.expression, destination, operands_,
                  Scalars{record_.alpha, record_.beta}, options_);
    } catch (const Error&) {
      if (undefined) buffer.mark_defined();
      if (std::string stray = stray_write(before, buffer, {}); !stray.empty()) return stray;
      throw;
    }
    std::string unwritten;
    if (undefined) {
      unwritten = undefined_element(out, buffer);
      buffer.mark_defined();
    }
    bits_ = buffer.bits();
    std::vector<bool> reached(static_cast<std::size_t>(out.size), false);
    for_each_position(out.shape, out.strides, out.offset, [&](std::int64_t p) {
      reached[static_cast<std::size_t>(p)] = true;
      found.add(buffer.get(p), is_complex(out.type));
    });
    std::string wrong = unwritten.empty() ? difference(record_, found) : unwritten;
    return wrong.empty() ? stray_write(before, buffer, reached) : wrong;
  }

  /// Of the last run that gave a value.
  const std::vector<std::byte>& bits() const { return bits_; }

 private:
  const ExecContext& context_;
  const OracleRecord& record_;
  EinsumOptions options_;
  ReplayMode mode_;
  std::vector<std::byte> bits_;
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

std::vector<Way> ways_of(const OracleRecord& record, const ReplayMode& mode) {
  if (!record.out) return {Way::own_tensor};
  if (record.beta != 0.0) return {Way::initialized};
  if (mode.uninit) return {record.out->seed ? Way::initialized : Way::uninitialized};
  return {Way::uninitialized, Way::initialized};
}

/// One way twice. The plan's seed is the record's index, so that no earlier record made this plan.
Verdict replay_cached(const ExecContext& context, const OracleRecord& record, EinsumOptions options,
                      const ReplayMode& mode, Way way) {
  options.seed = 2 * mode.index + (way == Way::uninitialized ? 1 : 0);
  Replay first(context, record, options, mode);
  const EngineStatistics before = context.engine().statistics();
  const Verdict cold = replay_once(first, record, way);
  if (cold.outcome == Outcome::failed || cold.outcome == Outcome::unsupported) return cold;
  const EngineStatistics between = context.engine().statistics();
  Replay second(context, record, options, mode);
  Verdict warm = replay_once(second, record, way);
  if (warm.outcome != Outcome::passed) {
    if (!warm.sentence.empty()) warm.sentence = "the second time, " + warm.sentence;
    return warm;
  }
  const EngineStatistics after = context.engine().statistics();
  const auto failed = [&](const char* what) {
    return Verdict{Outcome::failed, std::string(way_text(way)) + ": " + what};
  };
  if (between.cache.misses != before.cache.misses + 1)
    return failed("the first call did not make its plan");
  if (after.cache.misses != between.cache.misses || after.cache.hits != between.cache.hits + 1)
    return failed("the second call's plan did not come from the cache");
  if (first.bits() != second.bits()) return failed("the second call gave other bits");
  return warm;
}

}  // namespace

Verdict replay(const ExecContext& context, const OracleRecord& record, const EinsumOptions& options,
               const ReplayMode& mode) {
  Replay run(context, record, options, mode);
  Verdict verdict;
  for (const Way way : ways_of(record, mode)) {
    verdict = mode.cached ? replay_cached(context, record, options, mode, way)
                          : replay_once(run, record, way);
    if (verdict.outcome == Outcome::failed || verdict.outcome == Outcome::unsupported) break;
  }
  return verdict;
}

}  // namespace einjit
