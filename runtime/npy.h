// Arrays in .npy files, numpy's own format: read exactly, written as numpy writes them.
//
// bytes ─parse_npy→ NpyArray; view ─write_npy→ file. Read: versions 1.0, 2.0 and 3.0, little-endian
// f4, f8, c8 and c16, both orders. Nothing is allocated before the header has been checked against
// the size of the file. Written: version 1.0; in C order byte for byte what numpy.save writes.
// Writing goes to a temporary file beside the path, renamed at the end: no half file is ever seen
// under the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "einjit/dtype.h"
#include "einjit/view.h"

namespace einjit {

enum class NpyOrder : std::uint8_t { c, fortran };  // the last axis is contiguous, or the first

struct NpyArray {
  DType type = DType::f64;
  Dims extents;
  NpyOrder order = NpyOrder::c;
  std::vector<std::byte> data;  // dense, as in the file

  Dims strides() const;  // elements
  /// Looks into `data`; valid as long as this array.
  Operand operand() const;
  operator Operand() const { return operand(); }
};

/// Throws io_error (path and the system's reason), corrupt_file (truncated, longer than its shape
/// says, or no .npy), dtype_mismatch (an element type that einjit has not), unsupported
/// (big-endian).
NpyArray read_npy(const std::string& path);

/// The same from memory; `name` is what sentences call it.
NpyArray parse_npy(std::span<const std::byte> bytes, const std::string& name = "npy data");

/// Writes any view, conjugated ones with their imaginary parts negated. Throws io_error;
/// unsupported above rank 64, which numpy does not read.
void write_npy(const std::string& path, const Operand& tensor, NpyOrder order = NpyOrder::c);

/// The bytes that stand before the elements.
std::string npy_header(DType type, const Dims& extents, NpyOrder order);

}  // namespace einjit
