// Emits reads, writes and arithmetic of cells: vectors of the compute type, planar where complex.
#include <llvm/IR/Intrinsics.h>

#include <numeric>

#include "jit/llvm/emitter.h"

namespace einjit::jit {

using llvm::Align;
using llvm::FixedVectorType;

llvm::Type* Emitter::cell_type(bool vector) {
  llvm::Type* real = real_type(spec_.compute);
  return vector && width_ > 1 ? FixedVectorType::get(real, static_cast<unsigned>(width_)) : real;
}

Cell Emitter::zero(bool vector) {
  Value* z = llvm::Constant::getNullValue(cell_type(vector));
  return {z, complex() ? z : nullptr};
}

Value* Emitter::splat(Value* scalar) {
  return width_ == 1 ? scalar : b_.CreateVectorSplat(static_cast<unsigned>(width_), scalar);
}

Value* Emitter::lane_mask(Value* active) {
  std::vector<llvm::Constant*> lanes;
  for (std::int32_t i = 0; i < width_; ++i)
    lanes.push_back(b_.getInt64(static_cast<std::uint64_t>(i)));
  return b_.CreateICmpSLT(llvm::ConstantVector::get(lanes), splat(active));
}

/// Each lane twice: the mask of interleaved complex elements.
Value* Emitter::doubled(Value* mask) {
  std::vector<int> lanes;
  for (std::int32_t i = 0; i < 2 * width_; ++i) lanes.push_back(i / 2);
  return b_.CreateShuffleVector(mask, lanes);
}

Value* Emitter::lane_addresses(Value* address, Value* stride) {
  std::vector<llvm::Constant*> lanes;
  for (std::int32_t i = 0; i < width_; ++i)
    lanes.push_back(b_.getInt64(static_cast<std::uint64_t>(i)));
  Value* offsets = b_.CreateMul(llvm::ConstantVector::get(lanes), splat(stride));
  return b_.CreateGEP(b_.getInt8Ty(), address, offsets);
}

Cell Emitter::read(int tensor, Value* offset, Value* mask) {
  const auto t = static_cast<std::size_t>(tensor);
  const DType type = spec_.types[t];
  llvm::Type* stored = real_type(type);
  llvm::Type* real = real_type(spec_.compute);
  const Align align(size_bytes(real_of(type)));
  Value* address = b_.CreateGEP(b_.getInt8Ty(), bases_[t], offset);
  const auto tagged = [&](Value* v) {
    if (auto* i = llvm::dyn_cast<llvm::Instruction>(v); i && i->mayReadFromMemory())
      i->setMetadata(
          tensor == kC ? llvm::LLVMContext::MD_alias_scope : llvm::LLVMContext::MD_noalias,
          only_c_);
    return v;
  };
  const auto part_address = [&](unsigned part) {
    return part == 0 ? address : b_.CreateConstGEP1_64(stored, address, part);
  };
  const unsigned parts = is_complex(type) ? 2 : 1;
  std::array<Value*, 2> value{};
  const Access access = nest_.access[t];
  // With lanes in vectors the elements of c are single numbers.
  const bool single = tensor == kC && nest_.sum == SumForm::lanes_in_vectors;
  if (width_ == 1 || access == Access::splat) {
    for (unsigned p = 0; p < parts; ++p) {
      value[p] = tagged(b_.CreateAlignedLoad(stored, part_address(p), align));
      if (stored != real) value[p] = b_.CreateFPExt(value[p], real);
      if (!single) value[p] = splat(value[p]);
    }
  } else {
    auto* vector = FixedVectorType::get(stored, static_cast<unsigned>(width_));
    if (access == Access::contiguous && parts == 1) {
      value[0] =
          tagged(mask ? static_cast<Value*>(b_.CreateMaskedLoad(
                            vector, address, align, mask, llvm::Constant::getNullValue(vector)))
                      : b_.CreateAlignedLoad(vector, address, align));
    } else if (access == Access::contiguous) {
      auto* wide = FixedVectorType::get(stored, static_cast<unsigned>(2 * width_));
      Value* both =
          tagged(mask ? static_cast<Value*>(b_.CreateMaskedLoad(wide, address, align, doubled(mask),
                                                                llvm::Constant::getNullValue(wide)))
                      : b_.CreateAlignedLoad(wide, address, align));
      for (unsigned p = 0; p < 2; ++p) {
        std::vector<int> lanes;
        for (std::int32_t i = 0; i < width_; ++i) lanes.push_back(2 * i + static_cast<int>(p));
        value[p] = b_.CreateShuffleVector(both, lanes);
      }
    } else {
      Value* stride = values(*nest_.vector_axis).strides[t];
      Value* all = mask ? mask
                        : llvm::Constant::getAllOnesValue(
                              FixedVectorType::get(b_.getInt1Ty(), static_cast<unsigned>(width_)));
      for (unsigned p = 0; p < parts; ++p)
        value[p] = tagged(b_.CreateMaskedGather(vector, lane_addresses(part_address(p), stride),
                                                align, all, llvm::Constant::getNullValue(vector)));
    }
    if (stored != real)
      for (unsigned p = 0; p < parts; ++p) value[p] = b_.CreateFPExt(value[p], cell_type(true));
  }
  if (!complex()) return {value[0], nullptr};
  if (parts == 1) return {value[0], llvm::Constant::getNullValue(value[0]->getType())};
  if (tensor != kC && spec_.conj[t]) value[1] = b_.CreateFNeg(value[1]);
  return {value[0], value[1]};
}

/// A cell as c stores it: copies may widen, and a real number has imaginary part +0.
Cell Emitter::stored_cell(Cell value) {
  const DType type = spec_.types[kC];
  if (type == spec_.compute) return value;
  llvm::Type* part = real_type(type);
  if (auto* vector = llvm::dyn_cast<FixedVectorType>(value.re->getType()))
    part = FixedVectorType::get(part, vector);
  const auto widened = [&](Value* v) { return v->getType() == part ? v : b_.CreateFPExt(v, part); };
  Cell out{widened(value.re), value.im ? widened(value.im) : nullptr};
  if (is_complex(type) && !out.im) out.im = llvm::Constant::getNullValue(part);
  return out;
}

void Emitter::write(Value* offset, Value* mask, Cell computed) {
  const Cell value = stored_cell(computed);
  llvm::Type* real = real_type(spec_.types[kC]);
  const Align align(size_bytes(real_of(spec_.types[kC])));
  Value* address = b_.CreateGEP(b_.getInt8Ty(), bases_[kC], offset);
  const auto tagged = [&](llvm::Instruction* i) {
    i->setMetadata(llvm::LLVMContext::MD_alias_scope, only_c_);
  };
  const bool vectors = value.re->getType()->isVectorTy();
  if (!vectors) {
    tagged(b_.CreateAlignedStore(value.re, address, align));
    if (value.im)
      tagged(b_.CreateAlignedStore(value.im, b_.CreateConstGEP1_64(real, address, 1), align));
    return;
  }
  if (nest_.access[kC] == Access::contiguous) {
    Value* all = value.re;
    if (value.im) {
      std::vector<int> lanes;
      for (std::int32_t i = 0; i < width_; ++i) {
        lanes.push_back(i);
        lanes.push_back(width_ + i);
      }
      all = b_.CreateShuffleVector(value.re, value.im, lanes);
    }
    if (mask)
      tagged(b_.CreateMaskedStore(all, address, align, value.im ? doubled(mask) : mask));
    else
      tagged(b_.CreateAlignedStore(all, address, align));
    return;
  }
  Value* stride = values(*nest_.vector_axis).strides[kC];
  Value* on = mask ? mask
                   : llvm::Constant::getAllOnesValue(
                         FixedVectorType::get(b_.getInt1Ty(), static_cast<unsigned>(width_)));
  tagged(b_.CreateMaskedScatter(value.re, lane_addresses(address, stride), align, on));
  if (value.im)
    tagged(b_.CreateMaskedScatter(
        value.im, lane_addresses(b_.CreateConstGEP1_64(real, address, 1), stride), align, on));
}

Cell Emitter::plus(Cell a, Cell b) {
  return {b_.CreateFAdd(a.re, b.re), a.im ? b_.CreateFAdd(a.im, b.im) : nullptr};
}

/// sum + a·b in the order that SumOrder states.
Cell Emitter::fma_term(Cell a, Cell b, Cell sum) {
  const auto fma = [&](Value* x, Value* y, Value* z) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z});
  };
  Cell out{fma(a.re, b.re, sum.re), nullptr};
  if (!complex()) return out;
  out.re = fma(b_.CreateFNeg(a.im), b.im, out.re);
  out.im = fma(a.im, b.re, fma(a.re, b.im, sum.im));
  return out;
}

/// One product alone: no sum, so a −0 stays a −0.
Cell Emitter::product(Cell a, Cell b) {
  if (!complex()) return {b_.CreateFMul(a.re, b.re), nullptr};
  const auto fma = [&](Value* x, Value* y, Value* z) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, z});
  };
  return {fma(b_.CreateFNeg(a.im), b.im, b_.CreateFMul(a.re, b.re)),
          fma(a.im, b.re, b_.CreateFMul(a.re, b.im))};
}

}  // namespace einjit::jit
