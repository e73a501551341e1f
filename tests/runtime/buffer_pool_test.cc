// The buffer pool against a model of ten lines, and its early exits.
#include "runtime/buffer_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "einjit/error.h"

// Under AddressSanitizer an absurd size is a failed allocation too, not the end of the program.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace einjit {
namespace {

WriteReceipt receipt_of(std::byte* data) {
  return *WriteReceipt::of(Destination(data, DType::f64, {}, {}, {}, true));
}
void finish(BufferPool::Guard guard) {
  std::byte* const data = guard.data();
  std::move(guard).finish(receipt_of(data));
}
std::int64_t capacity_of(const BufferPool::Guard& guard) {
  return std::visit([](const auto& token) { return token.capacity; }, guard.token());
}
bool is_reused(const BufferPool::Guard& guard) {
  return std::holds_alternative<BufferPool::Reused>(guard.token());
}
ErrorCode code_of(auto&& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.code();
  }
  return ErrorCode::corrupt_file;  // nothing in here throws it
}

/// What the pool holds, in the open.
struct Model {
  std::int64_t limit;
  std::multiset<std::int64_t> kept;  // capacities
  std::int64_t in_flight = 0;
  std::int64_t bytes() const { return std::accumulate(kept.begin(), kept.end(), std::int64_t{0}); }
  bool fits(std::int64_t bytes) const {
    const std::int64_t most = std::max<std::int64_t>(bytes, 4096);
    return std::any_of(kept.begin(), kept.end(),
                       [&](std::int64_t k) { return k >= bytes && k / 8 <= most; });
  }
  void give_back(std::int64_t capacity) {
    if (bytes() + capacity <= limit && kept.size() < 64) kept.insert(capacity);
  }
};

TEST_CASE("pool: 20,000 random operations agree with the model") {
  std::mt19937 random(7);
  BufferPool pool(200'000);
  Model model{200'000, {}};
  std::vector<std::unique_ptr<BufferPool::Guard>> out;
  const auto leave = [&](std::size_t i, bool finished) {
    const std::int64_t capacity = capacity_of(*out[i]);
    model.in_flight -= is_reused(*out[i]);
    BufferPool::Guard guard = std::move(*out[i]);
    out[i].reset();
    std::swap(out[i], out.back());
    out.pop_back();
    if (!finished) return;  // dropped here: storage gone
    finish(std::move(guard));
    model.give_back(capacity);
  };
  for (int n = 0; n < 20'000; ++n) {
    const auto what = random() % 100;
    if (what < 50 || out.empty()) {
      const auto bytes = static_cast<std::int64_t>(random() % (what < 25 ? 3000 : 60'000));
      const bool fits = model.fits(bytes);
      auto guard = pool.acquire(bytes);
      REQUIRE(is_reused(guard) == fits);
      REQUIRE(capacity_of(guard) >= bytes);
      REQUIRE(reinterpret_cast<std::uintptr_t>(guard.data()) % 64 == 0);
      std::memset(guard.data(), 0x5a, static_cast<std::size_t>(capacity_of(guard)));
      if (fits) {
        const auto known = model.kept.find(capacity_of(guard));
        REQUIRE(known != model.kept.end());
        model.kept.erase(known);
        ++model.in_flight;
      }
      out.push_back(std::make_unique<BufferPool::Guard>(std::move(guard)));
    } else if (what < 98) {
      leave(random() % out.size(), what < 90);
    } else {
      pool.clear();
      model.kept.clear();
    }
    const PoolStatistics s = pool.statistics();
    REQUIRE(s.retained_bytes == model.bytes());
    REQUIRE(s.retained_buffers == static_cast<std::int64_t>(model.kept.size()));
    REQUIRE(s.in_flight == model.in_flight);
    REQUIRE(s.fresh == s.discarded + s.retained_buffers + static_cast<std::int64_t>(out.size()));
  }
}

TEST_CASE("pool: a guard dropped by an exception leaves the pool smaller, not equal") {
  BufferPool pool(1 << 20);
  finish(pool.acquire(10'000));
  const auto before = pool.statistics();
  REQUIRE(before.retained_buffers == 1);
  try {
    auto guard = pool.acquire(10'000);
    CHECK(is_reused(guard));
    CHECK(pool.statistics().in_flight == 1);
    throw 1;
  } catch (int) {
  }
  CHECK(pool.statistics().retained_buffers == 0);
  CHECK(pool.statistics().retained_bytes == 0);
  CHECK(pool.statistics().in_flight == 0);
  CHECK(pool.statistics().discarded == 1);
}

TEST_CASE("pool: a limit of 0 keeps nothing, a negative one is refused, so are absurd sizes") {
  BufferPool none(0);
  finish(none.acquire(100));
  CHECK(none.statistics().retained_buffers == 0);
  CHECK(none.statistics().discarded == 1);
  CHECK(code_of([] { BufferPool bad(-1); }) == ErrorCode::invalid_argument);
  for (const std::int64_t bytes : {std::int64_t{-1}, INT64_MIN, INT64_MAX})
    CHECK(code_of([&] { (void)none.acquire(bytes); }) == ErrorCode::size_overflow);
  CHECK(code_of([&] { (void)none.acquire(INT64_MAX - 4096); }) == ErrorCode::out_of_memory);
  CHECK(none.statistics().fresh == 1);
  CHECK(none.statistics().in_flight == 0);
}

TEST_CASE("pool: only the receipt of this very buffer finishes a guard") {
  BufferPool pool(1 << 20);
  auto first = pool.acquire(100), second = pool.acquire(100);
  std::byte* const other = second.data();
  CHECK_THROWS_AS(std::move(first).finish(receipt_of(other)), std::logic_error);
  finish(std::move(first));
  CHECK_THROWS_AS(std::move(first).finish(receipt_of(other)), std::logic_error);
}

TEST_CASE("pool: threads never share a buffer, and the gauges return to zero") {
  BufferPool pool(1 << 16);
  std::atomic<int> wrong = 0;
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int n = 0; n < 20'000; ++n) {
      auto guard = pool.acquire(static_cast<std::int64_t>(random() % 9000 + 8));
      std::memcpy(guard.data(), &seed, sizeof seed);
      unsigned found = 0;
      std::memcpy(&found, guard.data(), sizeof found);
      wrong += found != seed;
      if (n % 7 != 0) finish(std::move(guard));
      if (n % 1000 == 0) pool.clear();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back(work, t + 1);
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  pool.clear();
  const auto s = pool.statistics();
  CHECK(s.retained_bytes == 0);
  CHECK(s.in_flight == 0);
  CHECK(s.fresh == s.discarded);
}

}  // namespace
}  // namespace einjit
