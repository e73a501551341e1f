// Raw storage, and the owning Tensor made of it.
#include "runtime/storage.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "einjit/einsum.h"
#include "einjit/error.h"
#include "einjit/tensor.h"
#include "runtime/tensor_maker.h"

namespace einjit {

void StorageFree::operator()(std::byte* p) const noexcept {
  ::operator delete[](p, std::align_val_t{kStorageAlignment});
}

Storage allocate_storage(std::size_t bytes) {
  void* p = ::operator new[](std::max<std::size_t>(bytes, 1), std::align_val_t{kStorageAlignment},
                             std::nothrow);
  if (p == nullptr)
    with_typed_memory_errors([&] {  // the sentence may find no memory either
      throw Error(ErrorCode::out_of_memory,
                  "no memory for a tensor of " + std::to_string(bytes) + " bytes");
    });
  return Storage(static_cast<std::byte*>(p));
}

std::int64_t checked_elements(std::span<const std::int64_t> extents, DType type) {
  std::int64_t elements = 1, bytes = 0;
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  bool fits = true;
  for (const std::int64_t e : extents)
    fits = fits && e >= 0 && !__builtin_mul_overflow(elements, e, &elements);
  if (!fits ||
      __builtin_mul_overflow(elements, static_cast<std::int64_t>(size_bytes(type)), &bytes))
    throw Error(ErrorCode::size_overflow,
                "a tensor of " + std::to_string(extents.size()) + " axes has more than 2^63 bytes");
  return elements;
}

Tensor::Tensor(DType type, Dims extents) : type_(type), extents_(std::move(extents)) {
  size_ = checked_elements(extents_, type);
  storage_.reset(allocate_storage(static_cast<std::size_t>(size_) * size_bytes(type)).release());
}

void Tensor::Free::operator()(std::byte* p) const noexcept { StorageFree{}(p); }

void Tensor::require(DType wanted) const {
  if (wanted != type_)
    throw Error(ErrorCode::dtype_mismatch, "the tensor's elements are " + std::string(name(type_)) +
                                               ", not " + std::string(name(wanted)));
}

Tensor Tensor::zeros(DType type, Dims extents) {
  return with_typed_memory_errors([&]() -> Tensor {
    Tensor t(type, std::move(extents));
    std::memset(t.storage_.get(), 0, static_cast<std::size_t>(t.size_) * size_bytes(type));
    return t;
  });
}

template <Element T>
Tensor Tensor::of(Dims extents, std::span<const T> values) {
  return with_typed_memory_errors([&]() -> Tensor {
    Tensor t(dtype_of<T>, std::move(extents));
    if (static_cast<std::int64_t>(values.size()) != t.size_)
      throw Error(ErrorCode::invalid_argument, std::to_string(values.size()) +
                                                   " values for a tensor of " +
                                                   std::to_string(t.size_) + " elements");
    if (!values.empty()) std::memcpy(t.storage_.get(), values.data(), values.size_bytes());
    return t;
  });
}
template Tensor Tensor::of<float>(Dims, std::span<const float>);
template Tensor Tensor::of<double>(Dims, std::span<const double>);
template Tensor Tensor::of<c64>(Dims, std::span<const c64>);
template Tensor Tensor::of<c128>(Dims, std::span<const c128>);

Layout dense_layout(DType type, Dims extents) {
  return with_typed_memory_errors([&]() -> Layout {
    const Dims strides = Dims::row_major(extents);
    Layout layout{type, {extents.begin(), extents.end()}, {strides.begin(), strides.end()}, false};
    for (std::size_t i = 0; i < layout.extents.size(); ++i)
      if (layout.extents[i] == 1) layout.strides[i] = 0;
    return layout;
  });
}

Layout layout_of(const Operand& operand) {
  return with_typed_memory_errors([&]() -> Layout {
    Layout layout{operand.type,
                  {operand.extents.begin(), operand.extents.end()},
                  {operand.strides.begin(), operand.strides.end()},
                  operand.conj && is_complex(operand.type)};
    for (std::size_t i = 0; i < layout.extents.size() && i < layout.strides.size(); ++i)
      if (layout.extents[i] == 1) layout.strides[i] = 0;
    return layout;
  });
}

}  // namespace einjit
