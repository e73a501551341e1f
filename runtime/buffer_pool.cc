// A row of atomic slots that hold scratch storage between calls.
#include "runtime/buffer_pool.h"

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "einjit/error.h"

namespace einjit {

// A block's capacity stands in front of its data, on a line of its own, so that a slot is one
// pointer.
struct BufferPool::Guard::Block {
  std::int64_t capacity;
  std::byte* data() { return reinterpret_cast<std::byte*>(this) + kStorageAlignment; }
};

namespace {

// A reused buffer may be this many times larger than what is asked for; beyond, a small call would
// hold a large buffer. A choice, not a measurement.
constexpr std::int64_t kLargestExcess = 8;
constexpr std::int64_t kSmallestBlock = 4096;

}  // namespace

BufferPool::BufferPool(std::int64_t retained_limit_bytes) : limit_(retained_limit_bytes) {
  if (retained_limit_bytes < 0)
    throw Error(ErrorCode::invalid_argument, "pool_retained_bytes is " +
                                                 std::to_string(retained_limit_bytes) +
                                                 "; it must be 0 (keep nothing) or more");
}

BufferPool::~BufferPool() { clear(); }

void BufferPool::discard(Block* block) noexcept {
  ++discarded_;
  StorageFree{}(reinterpret_cast<std::byte*>(block));
}

bool BufferPool::reserve(std::int64_t bytes) noexcept {
  std::int64_t retained = retained_bytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ - retained) return false;
  } while (!retained_bytes_.compare_exchange_weak(retained, retained + bytes));
  return true;
}

/// Takes the first buffer that fits. Others are looked at by taking them for a moment: what another
/// thread misses meanwhile it allocates.
BufferPool::Block* BufferPool::take_fit(std::int64_t bytes) noexcept {
  const std::int64_t most = std::max(bytes, kSmallestBlock);
  for (auto& slot : slots_) {
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    Block* block = slot.exchange(nullptr, std::memory_order_acquire);
    if (block == nullptr) continue;
    if (block->capacity >= bytes && block->capacity / kLargestExcess <= most) {
      retained_bytes_ -= block->capacity;
      return block;
    }
    Block* expected = nullptr;
    if (slot.compare_exchange_strong(expected, block, std::memory_order_release)) continue;
    retained_bytes_ -= block->capacity;  // its slot has been filled meanwhile
    if (!keep(block)) discard(block);
  }
  return nullptr;
}

bool BufferPool::keep(Block* block) noexcept {
  const std::int64_t capacity = block->capacity;  // read while it is ours
  if (!reserve(capacity)) return false;
  for (auto& slot : slots_) {
    Block* expected = nullptr;
    if (slot.load(std::memory_order_relaxed) == nullptr &&
        slot.compare_exchange_strong(expected, block, std::memory_order_release))
      return true;
  }
  retained_bytes_ -= capacity;
  return false;
}

BufferPool::Guard BufferPool::acquire(std::int64_t bytes) {
  constexpr auto kHead = static_cast<std::int64_t>(kStorageAlignment);
  if (bytes < 0 || bytes > std::numeric_limits<std::int64_t>::max() - kHead)
    throw Error(ErrorCode::size_overflow,
                "a scratch buffer of " + std::to_string(bytes) + " bytes cannot exist");
  if (Block* block = take_fit(bytes)) {
    ++in_flight_;
    ++reused_;
    return Guard(*this, block, Reused{block->capacity});
  }
  const std::int64_t capacity = std::max(bytes, kSmallestBlock - kHead);
  Storage storage = allocate_storage(static_cast<std::size_t>(capacity + kHead));
  auto* block = new (storage.release()) Block{capacity};
  ++fresh_;
  return Guard(*this, block, Fresh{capacity});
}

PoolStatistics BufferPool::statistics() const {
  PoolStatistics s{retained_bytes_, 0, in_flight_, fresh_, reused_, returned_, discarded_};
  for (const auto& slot : slots_)
    s.retained_buffers += slot.load(std::memory_order_relaxed) != nullptr;
  return s;
}

void BufferPool::clear() noexcept {
  for (auto& slot : slots_)
    if (Block* block = slot.exchange(nullptr, std::memory_order_acquire)) {
      retained_bytes_ -= block->capacity;
      discard(block);
    }
}

BufferPool::Guard::Guard(Guard&& other) noexcept
    : pool_(other.pool_), block_(std::exchange(other.block_, nullptr)), token_(other.token_) {}

BufferPool::Guard::~Guard() {
  if (block_ == nullptr) return;
  land();
  pool_->discard(block_);
}

void BufferPool::Guard::land() noexcept {
  if (std::holds_alternative<Reused>(token_)) --pool_->in_flight_;
}

std::byte* BufferPool::Guard::data() const { return block_->data(); }

void BufferPool::Guard::finish(const WriteReceipt& receipt) && {
  if (block_ == nullptr || receipt.buffer() != block_->data())
    throw std::logic_error("a pool buffer was finished with the receipt of another, or twice");
  Block* block = std::exchange(block_, nullptr);
  land();
  if (pool_->keep(block))
    ++pool_->returned_;
  else
    pool_->discard(block);
}

}  // namespace einjit
