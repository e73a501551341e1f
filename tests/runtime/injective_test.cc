// Injectivity against brute force.
#include "runtime/injective.h"

#include <doctest/doctest.h>

#include <bitset>
#include <vector>

namespace einjit {
namespace {

bool meets_itself(const std::vector<std::int64_t>& extents,
                  const std::vector<std::int64_t>& strides) {
  std::bitset<256> seen;  // |address| ≤ 4 axes · 3 · 8
  std::vector<std::int64_t> index(extents.size(), 0);
  for (const std::int64_t e : extents)
    if (e == 0) return false;
  for (;;) {
    std::int64_t address = 128;
    for (std::size_t i = 0; i < index.size(); ++i) address += index[i] * strides[i];
    if (seen[static_cast<std::size_t>(address)]) return true;
    seen.set(static_cast<std::size_t>(address));
    std::size_t axis = index.size();
    while (axis > 0 && ++index[axis - 1] == extents[axis - 1]) index[--axis] = 0;
    if (axis == 0) return false;
  }
}

/// Steps through all tuples over `values`; false after the last.
bool advance(std::vector<std::size_t>& at, std::size_t values) {
  for (std::size_t& i : at) {
    if (++i < values) return true;
    i = 0;
  }
  return false;
}

std::int64_t count_wrong(std::size_t rank, const std::vector<std::int64_t>& extents,
                         const std::vector<std::int64_t>& strides) {
  std::int64_t wrong = 0;
  std::vector<std::int64_t> e(rank), s(rank);
  std::vector<std::size_t> at_e(rank, 0), at_s(rank, 0);
  do {
    for (std::size_t i = 0; i < rank; ++i) e[i] = extents[at_e[i]];
    do {
      for (std::size_t i = 0; i < rank; ++i) s[i] = strides[at_s[i]];
      const auto expected = meets_itself(e, s) ? Injectivity::overlapping : Injectivity::injective;
      wrong += injectivity(e, s) != expected;
    } while (advance(at_s, strides.size()));
  } while (advance(at_e, extents.size()));
  return wrong;
}

TEST_CASE("injective: every view of rank ≤ 3, extents ≤ 4, strides in [−8, 8]") {
  std::vector<std::int64_t> strides;
  for (std::int64_t s = -8; s <= 8; ++s) strides.push_back(s);
  for (std::size_t rank = 0; rank <= 3; ++rank)
    CHECK(count_wrong(rank, {0, 1, 2, 3, 4}, strides) == 0);
}

TEST_CASE("injective: rank 4") {
  CHECK(count_wrong(4, {1, 2, 3, 4}, {-8, -5, 0, 1, 2, 3, 4}) == 0);
}

TEST_CASE("injective: interleaved axes are decided exactly") {
  using Dims = std::vector<std::int64_t>;
  CHECK(injectivity(Dims{3, 1500}, Dims{2000, 3}) == Injectivity::injective);
  CHECK(injectivity(Dims{3, 1500}, Dims{2001, 3}) == Injectivity::overlapping);
  CHECK(injectivity(Dims{1000, 1000}, Dims{1, 999}) == Injectivity::overlapping);
  CHECK(injectivity(Dims{1, 5}, Dims{0, 1}) == Injectivity::injective);
  CHECK(injectivity(Dims{2, 5}, Dims{0, 1}) == Injectivity::overlapping);
  CHECK(injectivity(Dims{0, 5}, Dims{0, 0}) == Injectivity::injective);
}

TEST_CASE("injective: nothing wraps, and what is too large to enumerate is undecided") {
  using Dims = std::vector<std::int64_t>;
  CHECK(injectivity(Dims{2, 2}, Dims{INT64_MAX, INT64_MIN}) == Injectivity::undecided);
  CHECK(injectivity(Dims{INT64_MAX, 2}, Dims{2, 3}) == Injectivity::undecided);
  CHECK(injectivity(Dims{3, 20'000'000}, Dims{20'000'000, 3}) == Injectivity::undecided);
  CHECK(injectivity(Dims{1 << 20, 1 << 20, 1 << 20}, Dims{1 << 20, 1, 1LL << 40}) ==
        Injectivity::injective);
}

}  // namespace
}  // namespace einjit
