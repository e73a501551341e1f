// The header of a .npy file: from bytes to type, shape and order.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/npy.h"

namespace einjit {

inline constexpr std::size_t kNpyMostAxes = 64;  // numpy's own limit
inline constexpr std::size_t kNpyPreamble =
    12;  // the magic string, the version, the longest length

struct NpyHeader {
  DType type = DType::f64;
  Dims extents;
  NpyOrder order = NpyOrder::c;
  std::uint64_t elements_bytes = 0;  // after the header
};

/// Where the elements begin, from the first kNpyPreamble bytes (fewer, if there are no more).
std::uint64_t npy_data_offset(std::span<const std::byte> preamble, const std::string& name);

/// Reads the header from the bytes before the elements, and compares it with the size of the whole.
NpyHeader parse_npy_header(std::span<const std::byte> before_data, std::uint64_t file_bytes,
                           const std::string& name);

}  // namespace einjit
