// The one exception type of einjit: a code that programs act on and a sentence that people read.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

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
  Error(ErrorCode code, std::string sentence)
      : code_(code), sentence_(std::make_shared<const std::string>(std::move(sentence))) {}

  ErrorCode code() const noexcept { return code_; }
  const char* what() const noexcept override { return sentence_->c_str(); }

 private:
  ErrorCode code_;
  std::shared_ptr<const std::string> sentence_;
};

}  // namespace einjit
