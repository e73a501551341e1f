// The values that case files prescribe: fill rules and the checksum of results.
#pragma once

#include <complex>
#include <cstdint>
#include <span>

namespace einjit {

/// v(p) = ((7p + 13·seed + (p² mod 11)) mod (2·amp + 1)) − amp, the rule of the oracle's records.
std::int64_t oracle_value(std::int64_t p, std::int64_t seed, std::int64_t amp);

/// Rule F1 of the reported cases: element m of operand k, imaginary part included.
std::complex<double> f1_value(std::int64_t m, std::int64_t k);

/// 64-bit FNV-1a over the numbers as 64-bit little-endian two's complement integers.
std::uint64_t fnv1a(std::span<const std::int64_t> numbers);

}  // namespace einjit
