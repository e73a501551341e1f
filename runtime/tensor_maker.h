// A tensor on its way: storage that a call is about to write, a Tensor once it is written.
#pragma once

#include <stdexcept>

#include "einjit/tensor.h"
#include "runtime/receipt.h"

namespace einjit {

class TensorMaker {
 public:
  /// Storage without a value. Throws size_overflow, out_of_memory.
  TensorMaker(DType type, Dims extents) : tensor_(type, std::move(extents)) {}
  Destination destination() {
    return {tensor_.storage_.get(),
            tensor_.type(),
            tensor_.extents(),
            Dims::row_major(tensor_.extents()),
            ByteRange{},
            false};
  }
  /// The only way to the tensor: the receipt of a completed write to this very storage.
  Tensor finish(const WriteReceipt& receipt) && {
    if (receipt.buffer() != tensor_.bytes())
      throw std::logic_error("a tensor was finished with the receipt of another buffer");
    return std::move(tensor_);
  }

 private:
  Tensor tensor_;
};

}  // namespace einjit
