// The one exception type of einjit: a code that programs act on and a sentence that people read.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace einjit {

enum class ErrorCode : std::uint8_t {
  invalid_expression,
  operand_count_mismatch,
  rank_mismatch,
  extent_mismatch,
  unknown_output_label,
  destination_shape_mismatch,
  destination_not_injective,
  destination_aliases_operand,
  out_of_bounds,
  dtype_mismatch,
  invalid_path,
  invalid_argument,
  size_overflow,
  memory_limit_exceeded,
  out_of_memory,
  unsupported,
  backend_failure,
  cache_entry_poisoned,
  cache_poisoned,
  cancelled,
  preparation_cycle,
  capacity_exceeded,
  io_error,
  corrupt_file,
};

inline constexpr std::string_view kErrorCodeNames[] = {
    "invalid_expression",
    "operand_count_mismatch",
    "rank_mismatch",
    "extent_mismatch",
    "unknown_output_label",
    "destination_shape_mismatch",
    "destination_not_injective",
    "destination_aliases_operand",
    "out_of_bounds",
    "dtype_mismatch",
    "invalid_path",
    "invalid_argument",
    "size_overflow",
    "memory_limit_exceeded",
    "out_of_memory",
    "unsupported",
    "backend_failure",
    "cache_entry_poisoned",
    "cache_poisoned",
    "cancelled",
    "preparation_cycle",
    "capacity_exceeded",
    "io_error",
    "corrupt_file",
};

/// The code as it is spelt in documents and case files, e.g. "extent_mismatch".
constexpr std::string_view name(ErrorCode code) {
  return kErrorCodeNames[static_cast<std::size_t>(code)];
}

/// Thrown for every fault of the user or of the environment. The sentence speaks in the user's own
/// labels: what was expected, what was found, where. Copying never throws.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string sentence) : code_(code) {
    const auto owner = std::make_shared<const std::string>(std::move(sentence));
    sentence_ = std::shared_ptr<const char>(owner, owner->c_str());
  }
  /// For a heap that has nothing left: allocates nothing.
  static Error out_of_memory() noexcept {
    constexpr const char* kSentence = "the heap has no memory left for this call";
    return Error(ErrorCode::out_of_memory,
                 std::shared_ptr<const char>(std::shared_ptr<void>(), kSentence));
  }

  ErrorCode code() const noexcept { return code_; }
  const char* what() const noexcept override { return sentence_.get(); }

 private:
  Error(ErrorCode code, std::shared_ptr<const char> sentence) noexcept
      : code_(code), sentence_(std::move(sentence)) {}
  ErrorCode code_;
  std::shared_ptr<const char> sentence_;
};

/// Turns std::bad_alloc into a typed error, at every public entry.
template <class F>
decltype(auto) with_typed_memory_errors(F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const std::bad_alloc&) {
    throw Error::out_of_memory();
  }
}

}  // namespace einjit
