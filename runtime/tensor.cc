// The owning dense Tensor.
#include "einjit/tensor.h"

#include <cstring>
#include <string>

#include "einjit/einsum.h"
#include "runtime/storage.h"

namespace einjit {

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
