// Emits the terms of a tile and their sum, in the order that KernelSpec::sum_order states.
#include <bit>

#include "jit/llvm/emitter.h"

namespace einjit::jit {
namespace {

constexpr AxisGroup k = AxisGroup::contracted;
constexpr std::uint64_t kLevels = 56;  // of the tree: 2^56 blocks are more than any memory holds

}  // namespace

/// The cells of one operand over a tile: [row][vector], each loaded once.
std::vector<std::vector<Cell>> Emitter::read_tile(int tensor, const Tile& tile,
                                                  const Offsets& offsets, Value* mask) {
  const auto t = static_cast<std::size_t>(tensor);
  const bool rows_differ =
      nest_.row_axis && stride_class(*nest_.row_axis, tensor) != StrideClass::zero;
  const bool vectors_differ = nest_.access[t] != Access::splat;
  std::vector<std::vector<Cell>> cells;
  for (std::int32_t row = 0; row < tile.rows; ++row) {
    cells.emplace_back();
    for (std::int32_t vector = 0; vector < tile.vectors; ++vector) {
      if (row > 0 && !rows_differ) {
        cells.back().push_back(cells[0][static_cast<std::size_t>(vector)]);
      } else if (vector > 0 && !vectors_differ) {
        cells.back().push_back(cells.back()[0]);
      } else {
        Offsets at = offsets;
        if (row != 0) at = moved(at, *nest_.row_axis, int64(row));
        if (vector != 0) at = moved(at, *nest_.vector_axis, int64(vector * width_));
        cells.back().push_back(read(tensor, at[t], mask));
      }
    }
  }
  return cells;
}

std::vector<Cell> Emitter::products(const Tile& tile) {
  const auto a = read_tile(kA, tile, tile.offsets, tile.mask);
  std::vector<Cell> out;
  if (spec_.unary) {
    for (const auto& row : a) out.insert(out.end(), row.begin(), row.end());
    return out;
  }
  const auto b = read_tile(kB, tile, tile.offsets, tile.mask);
  for (std::size_t row = 0; row < a.size(); ++row)
    for (std::size_t vector = 0; vector < a[row].size(); ++vector)
      out.push_back(product(a[row][vector], b[row][vector]));
  return out;
}

/// One term into every accumulator: pointers to cells (re, then im where complex).
void Emitter::add_terms(const Tile& tile, const Offsets& offsets, Value* mask,
                        std::vector<Value*>& accumulators) {
  const auto a = read_tile(kA, tile, offsets, mask);
  std::vector<std::vector<Cell>> other;
  if (!spec_.unary) other = read_tile(kB, tile, offsets, mask);
  llvm::Type* type = cell_type(true);
  const bool select = mask != nullptr && nest_.sum == SumForm::lanes_in_vectors;
  std::size_t next = 0;
  for (std::size_t row = 0; row < a.size(); ++row)
    for (std::size_t vector = 0; vector < a[row].size(); ++vector) {
      Value* re = accumulators[next++];
      Value* im = complex() ? accumulators[next++] : nullptr;
      const Cell old{b_.CreateLoad(type, re), im ? b_.CreateLoad(type, im) : nullptr};
      Cell sum = spec_.unary ? plus(old, a[row][vector])
                             : fma_term(a[row][vector], other[row][vector], old);
      if (select) {  // lanes past the end keep their sums
        sum.re = b_.CreateSelect(mask, sum.re, old.re);
        if (im) sum.im = b_.CreateSelect(mask, sum.im, old.im);
      }
      b_.CreateStore(sum.re, re);
      if (im) b_.CreateStore(sum.im, im);
    }
}

/// Walks the contracted space block by block: run(offsets, begin, end) over inner indices, `flush`
/// between blocks and at the end.
void Emitter::walk_blocks(const Tile& tile, std::int32_t lanes,
                          const std::function<void(const Offsets&, Value*, Value*)>& run,
                          const std::function<void()>& flush) {
  Value* inner = values(k).counts[2];
  const std::int64_t chain = spec_.sum_order.chain;
  Value* steps = b_.CreateUDiv(b_.CreateAdd(inner, int64(lanes - 1)), int64(lanes));
  Value* is_long = b_.CreateICmpUGE(steps, int64(chain));
  Value* piece = b_.CreateSelect(is_long, int64(chain * lanes), inner);
  Value* quota = b_.CreateSelect(is_long, int64(1), b_.CreateUDiv(int64(chain), steps));
  if (!spec_.group(k).tabled) {  // one outer index: every piece is a block
    loop(int64(0), inner, piece, [&](Value* begin) {
      Value* end =
          b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(begin, piece), inner);
      run(tile.offsets, begin, end);
      flush();
    });
    return;
  }
  llvm::AllocaInst* pieces = local(b_.getInt64Ty());
  b_.CreateStore(int64(0), pieces);
  walk_contracted_tables(tile.offsets, [&](const Offsets& offsets) {
    loop(int64(0), inner, piece, [&](Value* begin) {
      auto* full = llvm::BasicBlock::Create(module_.getContext(), "full", function_);
      auto* on = llvm::BasicBlock::Create(module_.getContext(), "on", function_);
      b_.CreateCondBr(b_.CreateICmpEQ(b_.CreateLoad(b_.getInt64Ty(), pieces), quota), full, on);
      b_.SetInsertPoint(full);
      flush();
      b_.CreateStore(int64(0), pieces);
      b_.CreateBr(on);
      b_.SetInsertPoint(on);
      Value* end =
          b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(begin, piece), inner);
      run(offsets, begin, end);
      b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), pieces), int64(1)), pieces);
    });
  });
  flush();
}

std::vector<Cell> Emitter::sums(const Tile& tile) {
  switch (nest_.sum) {
    case SumForm::chain:
      return chain_sum(tile);
    case SumForm::lanes_in_memory:
      return lanes_in_memory_sum(tile);
    default:
      return lanes_in_vectors_sum(tile);
  }
}

std::vector<Cell> Emitter::chain_sum(const Tile& tile) {
  llvm::Type* type = cell_type(true);
  Value* none = llvm::Constant::getNullValue(type);
  // −0 + x is x for every x, so the first block's sum stands as it is, a −0 too.
  Value* nothing = llvm::ConstantFP::getNegativeZero(type);
  const std::size_t parts =
      static_cast<std::size_t>(tile.rows * tile.vectors) * (complex() ? 2 : 1);
  std::vector<Value*> sums, totals;
  for (std::size_t i = 0; i < parts; ++i) {
    sums.push_back(local(type));
    totals.push_back(local(type));
    b_.CreateStore(none, sums.back());
    b_.CreateStore(nothing, totals.back());
  }
  walk_blocks(
      tile, 1,
      [&](const Offsets& offsets, Value* begin, Value* end) {
        loop(begin, end, int64(1),
             [&](Value* i) { add_terms(tile, moved(offsets, k, i), tile.mask, sums); });
      },
      [&] {
        for (std::size_t i = 0; i < parts; ++i) {
          b_.CreateStore(
              b_.CreateFAdd(b_.CreateLoad(type, totals[i]), b_.CreateLoad(type, sums[i])),
              totals[i]);
          b_.CreateStore(none, sums[i]);
        }
      });
  std::vector<Cell> out;
  for (std::size_t i = 0; i < parts; i += complex() ? 2 : 1)
    out.push_back(
        {b_.CreateLoad(type, totals[i]), complex() ? b_.CreateLoad(type, totals[i + 1]) : nullptr});
  return out;
}

std::vector<Cell> Emitter::lanes_in_memory_sum(const Tile& tile) {
  llvm::Type* type = cell_type(true);
  Value* none = llvm::Constant::getNullValue(type);
  const std::int64_t lanes = spec_.sum_order.lanes;
  const std::size_t cells = static_cast<std::size_t>(tile.rows * tile.vectors);
  const std::size_t parts = cells * (complex() ? 2 : 1);
  llvm::AllocaInst* memory = local(type, static_cast<std::uint64_t>(lanes) * parts);
  const auto slot = [&](Value* lane, std::size_t part) {
    return b_.CreateGEP(type, memory,
                        b_.CreateAdd(b_.CreateMul(lane, int64(static_cast<std::int64_t>(parts))),
                                     int64(static_cast<std::int64_t>(part))));
  };
  const auto clear = [&] {
    loop(int64(0), int64(lanes * static_cast<std::int64_t>(parts)), int64(1),
         [&](Value* i) { b_.CreateStore(none, b_.CreateGEP(type, memory, i)); });
  };
  const BlockTree tree = make_tree(cells, type);
  clear();
  walk_blocks(
      tile, static_cast<std::int32_t>(lanes),
      [&](const Offsets& offsets, Value* begin, Value* end) {
        loop(begin, end, int64(1), [&](Value* i) {
          Value* lane = b_.CreateAnd(i, int64(lanes - 1));
          std::vector<Value*> accumulators;
          for (std::size_t p = 0; p < parts; ++p) accumulators.push_back(slot(lane, p));
          add_terms(tile, moved(offsets, k, i), tile.mask, accumulators);
        });
      },
      [&] {
        // The halving is a loop at run time: unrolled it is most of the kernel's code.
        const int halvings = std::countr_zero(static_cast<std::uint64_t>(lanes));
        loop(int64(0), int64(halvings), int64(1), [&](Value* h) {
          Value* half = b_.CreateLShr(int64(lanes / 2), h);
          loop(int64(0), half, int64(1), [&](Value* lane) {
            for (std::size_t p = 0; p < parts; ++p) {
              Value* low = slot(lane, p);
              Value* high = slot(b_.CreateAdd(lane, half), p);
              b_.CreateStore(b_.CreateFAdd(b_.CreateLoad(type, low), b_.CreateLoad(type, high)),
                             low);
            }
          });
        });
        std::vector<Cell> block;
        for (std::size_t p = 0; p < parts; p += complex() ? 2 : 1)
          block.push_back({b_.CreateLoad(type, slot(int64(0), p)),
                           complex() ? b_.CreateLoad(type, slot(int64(0), p + 1)) : nullptr});
        push(tree, block);
        clear();
      });
  return collect(tree);
}

std::vector<Cell> Emitter::lanes_in_vectors_sum(const Tile& tile) {
  llvm::Type* type = cell_type(true);
  Value* none = llvm::Constant::getNullValue(type);
  const std::int64_t lanes = spec_.sum_order.lanes;
  const std::size_t per_row = static_cast<std::size_t>(nest_.vectors) * (complex() ? 2 : 1);
  std::vector<Value*> sums;
  for (std::size_t i = 0; i < per_row * static_cast<std::size_t>(tile.rows); ++i) {
    sums.push_back(local(type));
    b_.CreateStore(none, sums.back());
  }
  const BlockTree tree = make_tree(static_cast<std::size_t>(tile.rows), real_type(spec_.compute));
  // The accumulators of vector v of every row, as add_terms wants them.
  const auto of_vector = [&](std::int32_t v) {
    std::vector<Value*> out;
    for (std::int32_t row = 0; row < tile.rows; ++row)
      for (std::size_t p = 0; p < (complex() ? 2u : 1u); ++p)
        out.push_back(sums[static_cast<std::size_t>(row) * per_row +
                           static_cast<std::size_t>(v) * (complex() ? 2 : 1) + p]);
    return out;
  };
  const Tile one_vector{tile.rows, 1, nullptr, tile.offsets};
  walk_blocks(
      tile, static_cast<std::int32_t>(lanes),
      [&](const Offsets& offsets, Value* begin, Value* end) {
        Value* length = b_.CreateSub(end, begin);
        Value* whole = b_.CreateAdd(begin, b_.CreateAnd(length, int64(-lanes)));
        loop(begin, whole, int64(lanes), [&](Value* i) {
          for (std::int32_t v = 0; v < nest_.vectors; ++v) {
            auto accumulators = of_vector(v);
            add_terms(one_vector, moved(offsets, k, b_.CreateAdd(i, int64(v * width_))), nullptr,
                      accumulators);
          }
        });
        loop(whole, end, int64(lanes), [&](Value* i) {  // at most once
          for (std::int32_t v = 0; v < nest_.vectors; ++v) {
            auto accumulators = of_vector(v);
            Value* at = b_.CreateAdd(i, int64(v * width_));
            loop(at,
                 b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, b_.CreateAdd(at, int64(1))),
                 int64(1), [&](Value*) {
                   Value* left = b_.CreateSub(end, at);
                   Value* mask = width_ == 1 ? nullptr : lane_mask(left);
                   add_terms(one_vector, moved(offsets, k, at), mask, accumulators);
                 });
          }
        });
      },
      [&] {
        std::vector<Cell> block;
        for (std::int32_t row = 0; row < tile.rows; ++row) {
          Cell cell;
          for (std::size_t p = 0; p < (complex() ? 2u : 1u); ++p) {
            std::vector<Value*> vectors;
            for (std::int32_t v = 0; v < nest_.vectors; ++v) {
              Value* at = of_vector(v)[static_cast<std::size_t>(row) * (complex() ? 2 : 1) + p];
              vectors.push_back(b_.CreateLoad(type, at));
              b_.CreateStore(none, at);
            }
            for (std::size_t half = vectors.size() / 2; half >= 1; half /= 2)
              for (std::size_t v = 0; v < half; ++v)
                vectors[v] = b_.CreateFAdd(vectors[v], vectors[v + half]);
            Value* sum = vectors[0];
            for (std::int32_t half = width_ / 2; half >= 1; half /= 2) {
              std::vector<int> high;
              for (std::int32_t l = 0; l < width_; ++l) high.push_back(l < half ? l + half : l);
              sum = b_.CreateFAdd(sum, b_.CreateShuffleVector(sum, high));
            }
            if (width_ > 1) sum = b_.CreateExtractElement(sum, std::uint64_t{0});
            (p == 0 ? cell.re : cell.im) = sum;
          }
          block.push_back(cell);
        }
        push(tree, block);
      });
  return collect(tree);
}

Emitter::BlockTree Emitter::make_tree(std::size_t cells, llvm::Type* type) {
  BlockTree tree;
  tree.cells = cells;
  tree.type = type;
  tree.stack = local(type, kLevels * cells * (complex() ? 2 : 1));
  tree.count = local(b_.getInt64Ty());
  b_.CreateStore(int64(0), tree.count);
  return tree;
}

/// Block number t joins its equal-sized left neighbours while t's low bits are 1.
void Emitter::push(const BlockTree& tree, const std::vector<Cell>& block) {
  const std::size_t parts = tree.cells * (complex() ? 2 : 1);
  std::vector<Value*> current;
  for (const Cell& cell : block)
    for (Value* v : {cell.re, cell.im})
      if (v) {
        current.push_back(local(tree.type));
        b_.CreateStore(v, current.back());
      }
  const auto slot = [&](Value* level, std::size_t part) {
    return b_.CreateGEP(tree.type, tree.stack,
                        b_.CreateAdd(b_.CreateMul(level, int64(static_cast<std::int64_t>(parts))),
                                     int64(static_cast<std::int64_t>(part))));
  };
  Value* number = b_.CreateLoad(b_.getInt64Ty(), tree.count);
  Value* joins =
      b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, b_.CreateNot(number), b_.getFalse());
  loop(int64(0), joins, int64(1), [&](Value* level) {
    for (std::size_t p = 0; p < parts; ++p)
      b_.CreateStore(b_.CreateFAdd(b_.CreateLoad(tree.type, slot(level, p)),
                                   b_.CreateLoad(tree.type, current[p])),
                     current[p]);
  });
  for (std::size_t p = 0; p < parts; ++p)
    b_.CreateStore(b_.CreateLoad(tree.type, current[p]), slot(joins, p));
  b_.CreateStore(b_.CreateAdd(number, int64(1)), tree.count);
}

/// What is left over is joined from the smallest to the largest (larger + smaller).
std::vector<Cell> Emitter::collect(const BlockTree& tree) {
  const std::size_t parts = tree.cells * (complex() ? 2 : 1);
  const auto slot = [&](Value* level, std::size_t part) {
    return b_.CreateGEP(tree.type, tree.stack,
                        b_.CreateAdd(b_.CreateMul(level, int64(static_cast<std::int64_t>(parts))),
                                     int64(static_cast<std::int64_t>(part))));
  };
  Value* blocks = b_.CreateLoad(b_.getInt64Ty(), tree.count);
  Value* lowest = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, blocks, b_.getFalse());
  std::vector<Value*> current;
  for (std::size_t p = 0; p < parts; ++p) {
    current.push_back(local(tree.type));
    b_.CreateStore(b_.CreateLoad(tree.type, slot(lowest, p)), current.back());
  }
  Value* top = b_.CreateSub(int64(64),
                            b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, blocks, b_.getFalse()));
  loop(b_.CreateAdd(lowest, int64(1)), top, int64(1), [&](Value* level) {
    auto* join = llvm::BasicBlock::Create(module_.getContext(), "join", function_);
    auto* on = llvm::BasicBlock::Create(module_.getContext(), "on", function_);
    Value* bit = b_.CreateAnd(b_.CreateLShr(blocks, level), int64(1));
    b_.CreateCondBr(b_.CreateICmpNE(bit, int64(0)), join, on);
    b_.SetInsertPoint(join);
    for (std::size_t p = 0; p < parts; ++p)
      b_.CreateStore(b_.CreateFAdd(b_.CreateLoad(tree.type, slot(level, p)),
                                   b_.CreateLoad(tree.type, current[p])),
                     current[p]);
    b_.CreateBr(on);
    b_.SetInsertPoint(on);
  });
  std::vector<Cell> out;
  for (std::size_t p = 0; p < parts; p += complex() ? 2 : 1)
    out.push_back({b_.CreateLoad(tree.type, current[p]),
                   complex() ? b_.CreateLoad(tree.type, current[p + 1]) : nullptr});
  return out;
}

}  // namespace einjit::jit
