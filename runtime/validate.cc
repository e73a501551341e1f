// Checks of views before any work.
#include "runtime/validate.h"

#include <algorithm>
#include <cstdint>

#include "runtime/injective.h"

namespace einjit {
namespace {

constexpr __int128 kAddressEnd = static_cast<__int128>(1) << 63;

__int128 address_of(const std::byte* p) {
  return static_cast<__int128>(reinterpret_cast<std::uintptr_t>(p));
}

std::string number(__int128 v) {
  constexpr __int128 kMost = INT64_MAX;
  if (v > kMost) return "more than 2^63";
  return v < -kMost ? "less than −2^63" : std::to_string(static_cast<std::int64_t>(v));
}

std::string operand_name(std::size_t i) { return "operand " + std::to_string(i); }

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (const std::int64_t e : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(e);
  return text + ")";
}

/// What check_bounds says: who, and by how much.
[[noreturn]] void refuse_bounds(const std::string& who, const std::byte* data, DType type,
                                const Reach& reach, ByteRange bounds) {
  if (bounds.begin == nullptr)
    throw Error(ErrorCode::out_of_bounds,
                who + (data == nullptr ? " has no data (a null pointer) and elements to hold"
                                       : " reaches addresses that cannot exist"));
  const auto size = static_cast<__int128>(size_bytes(type));
  const __int128 begin = address_of(bounds.begin), end = address_of(bounds.end);
  const auto element = [&](__int128 byte) {  // of the buffer, rounded down
    return byte >= 0 ? byte / size : -((-byte + size - 1) / size);
  };
  throw Error(ErrorCode::out_of_bounds,
              who + " reaches elements " + number(element(address_of(data) + reach.low - begin)) +
                  " to " + number(element(address_of(data) + reach.high - 1 - begin)) +
                  " of a buffer of " + number((end - begin) / size));
}

/// Without bounds a view vouches for its buffer; its addresses must only exist.
bool is_inside(const std::byte* data, const Reach& reach, ByteRange bounds) {
  if (reach.empty) return true;
  const __int128 low = address_of(data) + reach.low, high = address_of(data) + reach.high;
  if (bounds.begin == nullptr) return data != nullptr && low >= 0 && high <= kAddressEnd;
  return low >= address_of(bounds.begin) && high <= address_of(bounds.end);
}

void check_bounds(const Operand& o, std::size_t i, const Reach& reach) {
  if (!is_inside(o.data, reach, o.bounds))
    refuse_bounds(operand_name(i), o.data, o.type, reach, o.bounds);
}

void check_bounds(const Destination& d, const Reach& reach) {
  if (!is_inside(d.data, reach, d.bounds))
    refuse_bounds("the destination", d.data, d.type, reach, d.bounds);
}

void check_overlap(const Operand& o, std::size_t i, const Reach& reach, const Destination& d,
                   const Reach& destination_reach) {
  if (reach.empty || destination_reach.empty) return;
  const __int128 in = address_of(o.data), out = address_of(d.data);
  const __int128 low = std::max(in + reach.low, out + destination_reach.low);
  const __int128 high = std::min(in + reach.high, out + destination_reach.high);
  if (low < high)
    throw Error(ErrorCode::destination_aliases_operand,
                "the destination's memory overlaps that of " + operand_name(i) + " by " +
                    number(high - low) +
                    " bytes (from the first to the last element of each); write into other "
                    "storage");
}

[[noreturn]] void refuse_strides_count(const std::string& who, std::size_t extents,
                                       std::size_t strides) {
  throw Error(ErrorCode::rank_mismatch, who + " has " + std::to_string(extents) + " extents and " +
                                            std::to_string(strides) + " strides");
}

}  // namespace

Reach reach_of(DType type, std::span<const std::int64_t> extents,
               std::span<const std::int64_t> strides) {
  const auto size = static_cast<std::int64_t>(size_bytes(type));
  Reach reach;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == 0) return {0, 0, true};
    if (extents[i] == 1) continue;
    const __int128 step = static_cast<__int128>(extents[i] - 1) * strides[i];
    // Beyond 2^70 elements no address exists; clamped, so that 64 axes of them do not wrap.
    constexpr __int128 kFar = static_cast<__int128>(1) << 70;
    const __int128 clamped = std::clamp(step, -kFar, kFar) * size;
    (clamped < 0 ? reach.low : reach.high) += clamped;
  }
  reach.high += size;
  return reach;
}

void check_operand_bounds(Operands operands) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& o = operands[i];
    if (o.extents.size() != o.strides.size())
      refuse_strides_count(operand_name(i), o.extents.size(), o.strides.size());
    check_bounds(o, i, reach_of(o.type, o.extents, o.strides));
  }
}

void check_destination_layout(DType type, std::span<const std::int64_t> extents,
                              std::span<const std::int64_t> strides,
                              std::span<const std::int64_t> shape, DType result) {
  if (!holds(type, result))
    throw Error(ErrorCode::dtype_mismatch, "the result is " + std::string(name(result)) +
                                               ", which a destination of " +
                                               std::string(name(type)) + " cannot hold");
  if (!std::equal(shape.begin(), shape.end(), extents.begin(), extents.end()))
    throw Error(
        ErrorCode::destination_shape_mismatch,
        "the result has shape " + shape_text(shape) + ", the destination " + shape_text(extents));
  if (extents.size() != strides.size())
    refuse_strides_count("the destination", extents.size(), strides.size());
  const Injectivity found = injectivity(extents, strides);
  if (found != Injectivity::injective)
    throw Error(ErrorCode::destination_not_injective,
                "the destination of shape " + shape_text(extents) + " with strides " +
                    shape_text(strides) +
                    (found == Injectivity::overlapping
                         ? " has two indices at one address"
                         : " is too interleaved to be shown free of overlaps"));
}

void check_views(Operands operands, const Destination& d, std::span<const std::int64_t> shape,
                 DType result) {
  check_operand_bounds(operands);
  check_destination_layout(d.type, d.extents, d.strides, shape, result);
  const Reach out = reach_of(d.type, d.extents, d.strides);
  check_bounds(d, out);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& o = operands[i];
    check_overlap(o, i, reach_of(o.type, o.extents, o.strides), d, out);
  }
}

void check_addresses(Operands operands, std::span<const Reach> reaches, const Destination& d,
                     const Reach& out) {
  for (std::size_t i = 0; i < operands.size(); ++i) check_bounds(operands[i], i, reaches[i]);
  check_bounds(d, out);
  for (std::size_t i = 0; i < operands.size(); ++i)
    check_overlap(operands[i], i, reaches[i], d, out);
}

}  // namespace einjit
