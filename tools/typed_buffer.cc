// Reading and writing elements of a type that is known at run time.
#include "tools/typed_buffer.h"

#include <cstring>

#include "tools/memcheck.h"

namespace einjit {

TypedBuffer::TypedBuffer(DType type, std::int64_t elements, std::optional<GuardedSide> guarded)
    : type_(type), size_(elements) {
  if (guarded) {
    data_ = pages_.emplace(bytes(), *guarded).data();
  } else {
    heap_ = std::make_unique<std::byte[]>(bytes());
    data_ = heap_.get();
  }
}

TypedBuffer::TypedBuffer(const TypedBuffer& other) : TypedBuffer(other.type_, other.size_) {
  if (size_ > 0) std::memcpy(data_, other.data_, bytes());
}

void TypedBuffer::set(std::int64_t position, std::complex<double> value) {
  with_element(type_, [&]<class T>() {
    T element;
    if constexpr (is_complex(dtype_of<T>))
      element = static_cast<T>(value);
    else
      element = static_cast<T>(value.real());
    std::memcpy(data_ + position * static_cast<std::int64_t>(sizeof(T)), &element, sizeof(T));
  });
}

std::complex<double> TypedBuffer::get(std::int64_t position) const {
  return with_element(type_, [&]<class T>() -> std::complex<double> {
    T element;
    std::memcpy(&element, data_ + position * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return std::complex<double>(element);
  });
}

void TypedBuffer::fill_with(Sentinel sentinel) {
  const std::size_t word = size_bytes(real_of(type_));
  for (std::size_t at = 0; at < bytes(); at += word) {
    std::uint64_t wide = 0x7FF4'0000'0000'0001u;
    std::uint32_t narrow = 0x7FA0'0001u;
    if (sentinel == Sentinel::infinity) {
      wide = 0x7FF0'0000'0000'0000u;
      narrow = 0x7F80'0000u;
    } else if (sentinel == Sentinel::payload) {
      const std::uint64_t payload = 1 + at / word % 100000;
      wide = 0x7FF8'0000'0000'0000u | payload << 20 | payload;
      narrow = static_cast<std::uint32_t>(0x7FC0'0000u | payload);
    }
    if (word == 8)
      std::memcpy(data_ + at, &wide, word);
    else
      std::memcpy(data_ + at, &narrow, word);
  }
}

void TypedBuffer::mark_undefined() { einjit::mark_undefined(data_, bytes()); }
void TypedBuffer::mark_defined() { einjit::mark_defined(data_, bytes()); }
bool TypedBuffer::is_defined(std::int64_t position) const {
  const std::size_t each = size_bytes(type_);
  return einjit::is_defined(data_ + static_cast<std::size_t>(position) * each, each);
}

bool TypedBuffer::same_bits(const TypedBuffer& other, std::int64_t position) const {
  const std::size_t each = size_bytes(type_), at = static_cast<std::size_t>(position) * each;
  return std::memcmp(data_ + at, other.data_ + at, each) == 0;
}

Operand TypedBuffer::operand(std::int64_t offset, const Dims& extents, const Dims& strides,
                             bool conj) const {
  return Operand(data_ + offset * static_cast<std::int64_t>(size_bytes(type_)), type_, extents,
                 strides, bounds(), conj);
}

Destination TypedBuffer::destination(std::int64_t offset, const Dims& extents, const Dims& strides,
                                     bool initialized) {
  return Destination(data_ + offset * static_cast<std::int64_t>(size_bytes(type_)), type_, extents,
                     strides, bounds(), initialized);
}

}  // namespace einjit
