// Proof that a buffer holds a value: what an accumulating step, a reader and the pool ask for.
//
// Two things give one: storage that came initialized, and a completed run of steps that overwrite.
// Steps that overwrite take bare storage; without a receipt nothing adds to a buffer, keeps it or
// returns it as a tensor.
#pragma once

#include <cstddef>
#include <optional>

#include "einjit/view.h"

namespace einjit {

class WriteReceipt {
 public:
  /// Initialized storage has its receipt from the caller; uninitialized storage has none.
  static std::optional<WriteReceipt> of(const Destination& destination) {
    if (!destination.initialized) return std::nullopt;
    return WriteReceipt(destination.data);
  }
  const std::byte* buffer() const { return buffer_; }

 private:
  friend class Executor;  // after the last step that writes the buffer has returned
  explicit WriteReceipt(const std::byte* buffer) : buffer_(buffer) {}
  const std::byte* buffer_;
};

}  // namespace einjit
