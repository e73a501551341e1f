// The fill rules and the checksum of case files.
#include "tools/case_values.h"

namespace einjit {

std::int64_t oracle_value(std::int64_t p, std::int64_t seed, std::int64_t amp) {
  return (7 * p + 13 * seed + (p % 11) * (p % 11) % 11) % (2 * amp + 1) - amp;
}

std::complex<double> f1_value(std::int64_t m, std::int64_t k) {
  return {static_cast<double>((7 * m + 3 * k + 1) % 11 - 5),
          static_cast<double>((5 * m + 2 * k + 2) % 7 - 3)};
}

std::uint64_t fnv1a(std::span<const std::int64_t> numbers) {
  std::uint64_t hash = 14695981039346656037u;
  for (const std::int64_t number : numbers) {
    auto bits = static_cast<std::uint64_t>(number);
    for (int byte = 0; byte < 8; ++byte, bits >>= 8) hash = (hash ^ (bits & 0xFF)) * 1099511628211u;
  }
  return hash;
}

}  // namespace einjit
