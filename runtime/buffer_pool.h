// Scratch storage kept between calls (CONTRACTS §3).
//
// acquire() checks storage out under a guard that owns it; finish(receipt) gives it back once it
// was wholly written; a guard that is dropped unfinished frees its storage and puts nothing back.
// Acquiring what is already there and finishing neither allocate nor lock: the pool is a row of
// atomic slots.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <variant>

#include "runtime/receipt.h"
#include "runtime/storage.h"

namespace einjit {

struct PoolStatistics {
  std::int64_t retained_bytes = 0;  // in the slots
  std::int64_t retained_buffers = 0;
  std::int64_t in_flight = 0;  // reused buffers that are checked out
  std::int64_t fresh = 0, reused = 0, returned = 0, discarded = 0;  // since the pool was made
};

class BufferPool {
 public:
  /// Throws invalid_argument for a negative limit. 0 keeps nothing.
  explicit BufferPool(std::int64_t retained_limit_bytes);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// Where a buffer came from, and its true size in bytes. Only reused ones count as in flight.
  struct Fresh {
    std::int64_t capacity;
  };
  struct Reused {
    std::int64_t capacity;
  };
  using Token = std::variant<Fresh, Reused>;

  class [[nodiscard]] Guard {
   public:
    Guard(Guard&& other) noexcept;
    Guard& operator=(Guard&&) = delete;
    ~Guard();
    std::byte* data() const;
    const Token& token() const { return token_; }
    /// Gives the storage back, or frees it where the limit is reached. The receipt must be for this
    /// very buffer (a fault of ours otherwise).
    void finish(const WriteReceipt& receipt) &&;

   private:
    friend class BufferPool;
    struct Block;
    Guard(BufferPool& pool, Block* block, Token token)
        : pool_(&pool), block_(block), token_(token) {}
    void land() noexcept;  // no longer in flight
    BufferPool* pool_;
    Block* block_;
    Token token_;
  };

  /// At least `bytes` bytes, of no value. Throws size_overflow for a negative or absurd size,
  /// out_of_memory.
  Guard acquire(std::int64_t bytes);
  PoolStatistics statistics() const;
  void clear() noexcept;

 private:
  using Block = Guard::Block;
  static constexpr std::size_t kSlots = 64;
  Block* take_fit(std::int64_t bytes) noexcept;
  bool keep(Block* block) noexcept;
  void discard(Block* block) noexcept;
  bool reserve(std::int64_t bytes) noexcept;

  const std::int64_t limit_;
  std::array<std::atomic<Block*>, kSlots> slots_{};
  std::atomic<std::int64_t> retained_bytes_{0};  // never above the limit
  std::atomic<std::int64_t> in_flight_{0}, fresh_{0}, reused_{0}, returned_{0}, discarded_{0};
};

}  // namespace einjit
