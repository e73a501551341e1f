// Arrays in .npy files: the elements. Their header is npy_header.cc's.
#include "runtime/npy.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "einjit/error.h"
#include "runtime/file.h"
#include "runtime/npy_header.h"

namespace einjit {
namespace {

constexpr std::size_t kWriteBuffer = 1 << 20;

Dims fortran_strides(const Dims& extents) {
  Dims strides = extents;
  std::int64_t step = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    strides[i] = step;
    if (extents[i] > 0 && __builtin_mul_overflow(step, extents[i], &step)) step = 0;  // no elements
  }
  return strides;
}

NpyArray array_of(const NpyHeader& header, const std::string& name) {
  NpyArray array{header.type, header.extents, header.order, {}};
  try {
    array.data.resize(header.elements_bytes);
  } catch (const std::exception&) {  // bad_alloc or length_error
    throw Error(ErrorCode::out_of_memory,
                name + ": no memory for its " + std::to_string(header.elements_bytes) + " bytes");
  }
  return array;
}

std::uint64_t checked_data_offset(std::span<const std::byte> preamble, std::uint64_t file_bytes,
                                  const std::string& name) {
  const std::uint64_t offset = npy_data_offset(preamble, name);
  if (offset > file_bytes)
    throw Error(ErrorCode::corrupt_file,
                name + ": its header says that it is " + std::to_string(offset) +
                    " bytes long, the whole has " + std::to_string(file_bytes));
  return offset;
}

template <class R>
void negate(std::byte* at) {
  R value;
  std::memcpy(&value, at, sizeof value);
  value = -value;
  std::memcpy(at, &value, sizeof value);
}

/// Writes the elements of a view in the order of `axes`, the last of them fastest.
void write_elements(OutputFile& file, const Operand& tensor, const std::vector<std::size_t>& axes) {
  const std::size_t element = size_bytes(tensor.type);
  const bool negative = tensor.conj && is_complex(tensor.type);
  std::vector<std::int64_t> index(axes.size(), 0);
  std::vector<std::byte> buffer(kWriteBuffer);
  std::size_t filled = 0;
  std::int64_t at = 0;  // elements
  for (bool more = true; more;) {
    std::byte* const to = buffer.data() + filled;
    std::memcpy(to, tensor.data + at * static_cast<std::int64_t>(element), element);
    if (negative)
      is_double(tensor.type) ? negate<double>(to + element / 2) : negate<float>(to + element / 2);
    filled += element;
    if (filled == buffer.size()) {
      file.write(buffer);
      filled = 0;
    }
    more = false;
    for (std::size_t i = axes.size(); i-- > 0 && !more;) {
      const std::int64_t extent = tensor.extents[axes[i]];
      if (extent == 1) continue;  // its stride means nothing
      at += tensor.strides[axes[i]];
      more = ++index[i] < extent;
      if (more) break;
      at -= extent * tensor.strides[axes[i]];
      index[i] = 0;
    }
  }
  file.write(std::span(buffer).first(filled));
}

}  // namespace

Dims NpyArray::strides() const {
  return order == NpyOrder::c ? Dims::row_major(extents) : fortran_strides(extents);
}

Operand NpyArray::operand() const {
  return Operand(data.data(), type, extents, strides(), {data.data(), data.data() + data.size()});
}

NpyArray parse_npy(std::span<const std::byte> bytes, const std::string& name) {
  return with_typed_memory_errors([&]() -> NpyArray {
    const auto preamble = bytes.first(std::min(bytes.size(), kNpyPreamble));
    const std::uint64_t offset = checked_data_offset(preamble, bytes.size(), name);
    NpyArray array = array_of(parse_npy_header(bytes.first(offset), bytes.size(), name), name);
    if (!array.data.empty())
      std::memcpy(array.data.data(), bytes.data() + offset, array.data.size());
    return array;
  });
}

NpyArray read_npy(const std::string& path) {
  return with_typed_memory_errors([&]() -> NpyArray {
    const std::string name = "'" + path + "'";
    InputFile file(path);
    std::vector<std::byte> before(std::min<std::uint64_t>(file.bytes(), kNpyPreamble));
    file.read(before);
    const std::uint64_t offset = checked_data_offset(before, file.bytes(), name);
    const std::size_t have = before.size();
    if (offset < have) throw Error(ErrorCode::corrupt_file, name + ": its .npy header is empty");
    before.resize(offset);
    file.read(std::span(before).subspan(have));
    NpyArray array = array_of(parse_npy_header(before, file.bytes(), name), name);
    file.read(array.data);
    return array;
  });
}

void write_npy(const std::string& path, const Operand& tensor, NpyOrder order) {
  with_typed_memory_errors([&] {
    if (tensor.extents.size() > kNpyMostAxes)
      throw Error(ErrorCode::unsupported, "cannot write '" + path + "': a tensor of rank " +
                                              std::to_string(tensor.extents.size()) +
                                              ", .npy files have rank " +
                                              std::to_string(kNpyMostAxes) + " at most");
    OutputFile file(path);
    const std::string header = npy_header(tensor.type, tensor.extents, order);
    file.write(std::as_bytes(std::span(header)));
    std::vector<std::size_t> axes(tensor.extents.size());
    for (std::size_t i = 0; i < axes.size(); ++i)
      axes[i] = order == NpyOrder::c ? i : axes.size() - 1 - i;
    if (std::find(tensor.extents.begin(), tensor.extents.end(), 0) == tensor.extents.end())
      write_elements(file, tensor, axes);
    file.commit();
  });
}

}  // namespace einjit
