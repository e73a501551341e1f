// The fill rules and the checksum of case files, at values computed by hand.
#include "tools/case_values.h"

#include <doctest/doctest.h>

#include <vector>

using namespace einjit;

TEST_CASE("the oracle's rule at its first positions") {
  // (7p + 13·1 + (p² mod 11)) mod 7 − 3
  CHECK(oracle_value(0, 1, 3) == 13 % 7 - 3);
  CHECK(oracle_value(1, 1, 3) == (7 + 13 + 1) % 7 - 3);
  CHECK(oracle_value(2, 1, 3) == (14 + 13 + 4) % 7 - 3);
  CHECK(oracle_value(4, 1, 3) == (28 + 13 + 5) % 7 - 3);
  CHECK(oracle_value(5, 418, 3) == (35 + 13 * 418 + 3) % 7 - 3);
}

TEST_CASE("the oracle's rule stays within its amplitude and never overflows") {
  for (std::int64_t p = 0; p < 1000; ++p) {
    const std::int64_t value = oracle_value(p, 999, 1);
    CHECK(value >= -1);
    CHECK(value <= 1);
  }
  const std::int64_t far = std::int64_t{1} << 40;
  CHECK(oracle_value(far, 0, 3) == (7 * far + far % 11 * (far % 11) % 11) % 7 - 3);
}

TEST_CASE("rule F1: real and imaginary parts") {
  CHECK(f1_value(0, 0) == std::complex<double>(-4, -1));
  CHECK(f1_value(1, 0) == std::complex<double>(3, (5 + 2) % 7 - 3));
  CHECK(f1_value(0, 1) == std::complex<double>(-1, (2 + 2) % 7 - 3));
  CHECK(f1_value(3, 2) == std::complex<double>((21 + 6 + 1) % 11 - 5, (15 + 4 + 2) % 7 - 3));
}

TEST_CASE("FNV-1a over little-endian 64-bit integers") {
  CHECK(fnv1a({}) == 0xcbf29ce484222325u);
  const std::vector<std::int64_t> zero{0};
  std::uint64_t by_bytes = 0xcbf29ce484222325u;
  for (int i = 0; i < 8; ++i) by_bytes *= 0x100000001b3u;
  CHECK(fnv1a(zero) == by_bytes);
  // "foobar\0\0" as one integer: the known hash of "foobar", then two zero bytes.
  std::uint64_t foobar = 0x85944171f73967e8u;
  foobar *= 0x100000001b3u;
  foobar *= 0x100000001b3u;
  CHECK(fnv1a(std::vector<std::int64_t>{0x7261626f6f66}) == foobar);
  CHECK(fnv1a(std::vector<std::int64_t>{-1}) != fnv1a(std::vector<std::int64_t>{1}));
}
