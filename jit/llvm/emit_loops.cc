// Emits the entry, the free loops and the write of each tile.
#include <llvm/IR/MDBuilder.h>

#include "einjit/kernel_abi.h"
#include "jit/llvm/emitter.h"

namespace einjit::jit {

using llvm::BasicBlock;
using llvm::ConstantInt;

Emitter::Emitter(llvm::Module& module, const KernelSpec& spec, const LoopNest& nest)
    : module_(module), spec_(spec), nest_(nest), b_(module.getContext()), width_(nest.width) {}

void Emitter::emit() {
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kEntryName, module_);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  function_->addFnAttr("no-builtins");
  function_->addParamAttr(0, llvm::Attribute::NoAlias);
  entry_ = BasicBlock::Create(module_.getContext(), "entry", function_);
  b_.SetInsertPoint(entry_);
  llvm::MDBuilder metadata(module_.getContext());
  auto* domain = metadata.createAnonymousAliasScopeDomain("kernel");
  scope_c_ = metadata.createAnonymousAliasScope(domain, "c");
  only_c_ = llvm::MDNode::get(module_.getContext(), {scope_c_});
  read_arguments();
  emit_level(0, Tile{1, 1, nullptr, {int64(0), int64(0), int64(0)}});
  b_.CreateRetVoid();
}

llvm::AllocaInst* Emitter::local(llvm::Type* type, std::uint64_t elements) {
  llvm::IRBuilder<> at_entry(entry_, entry_->begin());
  return at_entry.CreateAlloca(type, elements == 1 ? nullptr : at_entry.getInt64(elements));
}

void Emitter::read_arguments() {
  Value* args = function_->getArg(0);
  const auto field = [&](std::size_t offset, llvm::Type* type) -> Value* {
    return b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), args, offset));
  };
  bases_ = {field(offsetof(KernelArgs, a), b_.getPtrTy()),
            spec_.unary ? nullptr : field(offsetof(KernelArgs, b), b_.getPtrTy()),
            field(offsetof(KernelArgs, c), b_.getPtrTy())};
  llvm::Type* real = real_type(spec_.compute);
  const auto scalar = [&](std::size_t offset) {
    const auto part = [&](std::size_t o) {
      Value* v = field(o, b_.getDoubleTy());
      return real->isDoubleTy() ? v : b_.CreateFPTrunc(v, real);
    };
    return Cell{part(offset), complex() ? part(offset + 8) : nullptr};
  };
  if (spec_.alpha == AlphaClass::general) alpha_ = scalar(offsetof(KernelArgs, alpha));
  if (spec_.beta == BetaClass::general) beta_ = scalar(offsetof(KernelArgs, beta));
  for (const AxisGroup g : kAxisGroups) {
    const GroupSpec& group = spec_.group(g);
    GroupValues& v = values(g);
    v.counts = {int64(1), int64(1), int64(1)};
    v.strides = {int64(0), int64(0), int64(0)};
    if (!group.present) continue;
    const std::size_t base =
        offsetof(KernelArgs, groups) + static_cast<std::size_t>(g) * sizeof(GroupArgs);
    v.counts[2] = group.extent != 0 ? int64(group.extent)
                                    : field(base + offsetof(GroupArgs, inner), b_.getInt64Ty());
    if (group.tabled) {
      v.counts[0] = field(base + offsetof(GroupArgs, outer), b_.getInt64Ty());
      v.counts[1] = field(base + offsetof(GroupArgs, middle), b_.getInt64Ty());
      v.tables = {field(base + offsetof(GroupArgs, outer_table), b_.getPtrTy()),
                  field(base + offsetof(GroupArgs, middle_table), b_.getPtrTy())};
    }
    for (std::size_t t = 0; t < 3; ++t)
      if (group.strides[t] == StrideClass::unit)
        v.strides[t] = int64(static_cast<std::int64_t>(size_bytes(spec_.types[t])));
      else if (group.strides[t] == StrideClass::runtime)
        v.strides[t] = field(base + offsetof(GroupArgs, stride) + 8 * t, b_.getInt64Ty());
  }
}

/// while (begin < end) { body(begin); begin += step; } — folded away where the bounds are
/// constants.
void Emitter::loop(Value* begin, Value* end, Value* step, const std::function<void(Value*)>& body) {
  auto* first = llvm::dyn_cast<ConstantInt>(begin);
  auto* last = llvm::dyn_cast<ConstantInt>(end);
  auto* stride = llvm::dyn_cast<ConstantInt>(step);
  if (first && last) {
    if (first->getSExtValue() >= last->getSExtValue()) return;
    if (stride && first->getSExtValue() + stride->getSExtValue() >= last->getSExtValue()) {
      body(begin);
      return;
    }
  }
  BasicBlock* before = b_.GetInsertBlock();
  auto* in = BasicBlock::Create(module_.getContext(), "loop", function_);
  auto* after = BasicBlock::Create(module_.getContext(), "after", function_);
  b_.CreateCondBr(b_.CreateICmpSLT(begin, end), in, after);
  b_.SetInsertPoint(in);
  llvm::PHINode* index = b_.CreatePHI(b_.getInt64Ty(), 2);
  index->addIncoming(begin, before);
  body(index);
  Value* next = b_.CreateNSWAdd(index, step);
  index->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), in, after);
  b_.SetInsertPoint(after);
}

Offsets Emitter::moved(const Offsets& base, AxisGroup group, Value* index) {
  Offsets out = base;
  for (std::size_t t = 0; t < 3; ++t)
    if (bases_[t] && stride_class(group, static_cast<int>(t)) != StrideClass::zero)
      out[t] = b_.CreateAdd(out[t], b_.CreateMul(index, values(group).strides[t]));
  return out;
}

Offsets Emitter::table_offsets(const Offsets& base, AxisGroup group, Level level, Value* index) {
  Offsets out = base;
  const bool contracted = group == AxisGroup::contracted;
  Value* entry = b_.CreateMul(index, int64(3));
  for (std::size_t t = 0; t < 3; ++t) {
    if (!bases_[t] || (contracted && t == 2)) continue;
    if ((group == AxisGroup::left && t == 1) || (group == AxisGroup::right && t == 0)) continue;
    Value* at = b_.CreateGEP(b_.getInt64Ty(), values(group).tables[static_cast<std::size_t>(level)],
                             b_.CreateAdd(entry, int64(static_cast<std::int64_t>(t))));
    llvm::LoadInst* offset = b_.CreateLoad(b_.getInt64Ty(), at);
    offset->setMetadata(llvm::LLVMContext::MD_noalias, only_c_);
    out[t] = b_.CreateAdd(out[t], offset);
  }
  return out;
}

void Emitter::emit_level(std::size_t depth, const Tile& tile) {
  if (depth == nest_.loops.size()) return emit_tile(tile);
  const LoopNest::Loop& l = nest_.loops[depth];
  const auto at = [&](const Offsets& offsets, std::int32_t rows, std::int32_t vectors,
                      Value* mask) { emit_level(depth + 1, Tile{rows, vectors, mask, offsets}); };
  Value* count = values(l.group).counts[static_cast<std::size_t>(l.level)];
  if (l.level != Level::inner)
    return loop(int64(0), count, int64(1), [&](Value* i) {
      at(table_offsets(tile.offsets, l.group, l.level, i), tile.rows, tile.vectors, tile.mask);
    });
  const bool along_vectors = l.group == nest_.vector_axis, along_rows = l.group == nest_.row_axis;
  if (!along_vectors && !along_rows)
    return loop(int64(0), count, int64(1), [&](Value* i) {
      at(moved(tile.offsets, l.group, i), tile.rows, tile.vectors, tile.mask);
    });
  // Whole tiles, then what is left: row by row, or vector by vector with the last one masked.
  Value* whole = b_.CreateSub(count, b_.CreateSRem(count, int64(l.step)));
  loop(int64(0), whole, int64(l.step), [&](Value* i) {
    const Offsets offsets = moved(tile.offsets, l.group, i);
    if (along_vectors)
      at(offsets, tile.rows, nest_.vectors, nullptr);
    else
      at(offsets, nest_.rows, tile.vectors, tile.mask);
  });
  if (l.step == 1) return;
  loop(whole, count, int64(along_vectors ? width_ : 1), [&](Value* i) {
    const Offsets offsets = moved(tile.offsets, l.group, i);
    if (along_vectors)
      at(offsets, tile.rows, 1, width_ == 1 ? nullptr : lane_mask(b_.CreateSub(count, i)));
    else
      at(offsets, 1, tile.vectors, tile.mask);
  });
}

void Emitter::emit_tile(const Tile& tile) {
  const std::vector<Cell> cells = nest_.sum == SumForm::none ? products(tile) : sums(tile);
  std::size_t next = 0;
  for (std::int32_t row = 0; row < tile.rows; ++row)
    for (std::int32_t vector = 0; vector < tile.vectors; ++vector)
      store_result(tile, row, vector, cells[next++]);
}

void Emitter::store_result(const Tile& tile, std::int32_t row, std::int32_t vector, Cell sum) {
  Offsets offsets = tile.offsets;
  if (row != 0) offsets = moved(offsets, *nest_.row_axis, int64(row));
  if (vector != 0) offsets = moved(offsets, *nest_.vector_axis, int64(vector * width_));
  const bool vectors = sum.re->getType()->isVectorTy();
  const auto widened = [&](Cell scalar) {
    if (!vectors) return scalar;
    return Cell{splat(scalar.re), scalar.im ? splat(scalar.im) : nullptr};
  };
  Cell value = sum;
  if (spec_.alpha == AlphaClass::general)
    value = complex() ? fma_term(value, widened(alpha_), zero(vectors))
                      : product(value, widened(alpha_));
  if (spec_.beta != BetaClass::zero) {
    const Cell old = read(kC, offsets[kC], tile.mask);
    if (spec_.beta == BetaClass::one)
      value = plus(old, value);
    else if (complex())
      value = plus(fma_term(widened(beta_), old, zero(vectors)), value);
    else
      value = fma_term(widened(beta_), old, value);
  }
  write(offsets[kC], tile.mask, value);
}

void Emitter::walk_contracted_tables(const Offsets& base,
                                     const std::function<void(const Offsets&)>& body) {
  constexpr AxisGroup k = AxisGroup::contracted;
  if (!spec_.group(k).tabled) return body(base);
  loop(int64(0), values(k).counts[0], int64(1), [&](Value* o) {
    const Offsets outer = table_offsets(base, k, Level::outer, o);
    loop(int64(0), values(k).counts[1], int64(1),
         [&](Value* m) { body(table_offsets(outer, k, Level::middle, m)); });
  });
}

}  // namespace einjit::jit
