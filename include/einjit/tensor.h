// A dense row-major tensor that owns its elements: what einsum returns.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "einjit/dtype.h"
#include "einjit/error.h"
#include "einjit/view.h"

namespace einjit {

class Tensor {
 public:
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(Tensor&&) noexcept = default;

  /// Every element zero. Throws size_overflow, out_of_memory.
  static Tensor zeros(DType type, Dims extents);
  /// A copy of `values`, row-major. Throws invalid_argument if their number is not the extents'
  /// product.
  template <Element T>
  static Tensor of(Dims extents, std::span<const T> values);

  DType type() const { return type_; }
  const Dims& extents() const { return extents_; }
  std::int64_t size() const { return size_; }  // elements
  const std::byte* bytes() const { return storage_.get(); }

  /// Throws dtype_mismatch if the elements are not T.
  template <Element T>
  View<T> view() const {
    require(dtype_of<T>);
    return View<T>(reinterpret_cast<const T*>(storage_.get()), extents_);
  }
  template <Element T>
  MutableView<T> view() {
    require(dtype_of<T>);
    return MutableView<T>(reinterpret_cast<T*>(storage_.get()), extents_);
  }
  template <Element T>
  std::span<const T> values() const {
    require(dtype_of<T>);
    return {reinterpret_cast<const T*>(storage_.get()), static_cast<std::size_t>(size_)};
  }
  operator Operand() const {
    return Operand(storage_.get(), type_, extents_, Dims::row_major(extents_));
  }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept;
  };
  Tensor(DType type, Dims extents);  // storage without a value: only for makers below
  void require(DType wanted) const;
  friend class TensorMaker;

  DType type_;
  Dims extents_;
  std::int64_t size_ = 0;
  std::unique_ptr<std::byte[], Free> storage_;
};

}  // namespace einjit
