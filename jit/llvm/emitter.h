// The emitter's state: one kernel on its way from (KernelSpec, LoopNest) to an LLVM function.
//
// emit_loops.cc walks the free loops, emit_sum.cc the contracted space, emit_memory.cc reads and
// writes vectors. Laws: every access lies inside the axes (ragged vectors are masked, loads and
// stores both); nothing is loaded from c unless the role is accumulate, and then once an element,
// after its sum; no call leaves the module.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <array>
#include <functional>
#include <vector>

#include "jit/loop_nest.h"

namespace einjit::jit {

using llvm::Value;

/// A vector (or a scalar) of the compute type; im is null for real types.
struct Cell {
  Value* re = nullptr;
  Value* im = nullptr;
};

/// Byte offsets of the current position in a, b, c.
using Offsets = std::array<Value*, 3>;

/// The part of the index space that one tile's code covers.
struct Tile {
  std::int32_t rows = 1;
  std::int32_t vectors = 1;
  Value* mask = nullptr;  // of the (only) vector; null: all lanes
  Offsets offsets{};
};

class Emitter {
 public:
  Emitter(llvm::Module& module, const KernelSpec& spec, const LoopNest& nest);
  void emit();

 private:
  // One loop level of one group, read from the argument block at entry.
  struct GroupValues {
    std::array<Value*, 3> counts{};  // outer, middle, inner
    std::array<Value*, 2> tables{};
    std::array<Value*, 3> strides{};  // bytes
  };

  // emit_loops.cc
  void read_arguments();
  void emit_level(std::size_t depth, const Tile& tile);
  void emit_tile(const Tile& tile);
  void store_result(const Tile& tile, std::int32_t row, std::int32_t vector, Cell sum);
  void loop(Value* begin, Value* end, Value* step, const std::function<void(Value*)>& body);
  Offsets table_offsets(const Offsets& base, AxisGroup group, Level level, Value* index);
  Offsets moved(const Offsets& base, AxisGroup group, Value* index);
  void walk_contracted_tables(const Offsets& base, const std::function<void(const Offsets&)>& body);

  // emit_sum.cc
  std::vector<Cell> products(const Tile& tile);
  std::vector<Cell> sums(const Tile& tile);
  std::vector<Cell> chain_sum(const Tile& tile);
  std::vector<Cell> lanes_in_memory_sum(const Tile& tile);
  std::vector<Cell> lanes_in_vectors_sum(const Tile& tile);
  void walk_blocks(const Tile& tile, std::int32_t lanes,
                   const std::function<void(const Offsets&, Value*, Value*)>& run,
                   const std::function<void()>& flush);
  void add_terms(const Tile& tile, const Offsets& offsets, Value* mask,
                 std::vector<Value*>& accumulators);
  std::vector<std::vector<Cell>> read_tile(int tensor, const Tile& tile, const Offsets& offsets,
                                           Value* mask);

  // Sums of blocks, joined by the binary-counter tree.
  struct BlockTree {
    llvm::AllocaInst* stack = nullptr;  // kLevels × cells
    llvm::AllocaInst* count = nullptr;
    std::size_t cells = 0;
    llvm::Type* type = nullptr;
  };
  BlockTree make_tree(std::size_t cells, llvm::Type* type);
  void push(const BlockTree& tree, const std::vector<Cell>& block);
  std::vector<Cell> collect(const BlockTree& tree);

  // emit_memory.cc
  Cell read(int tensor, Value* offset, Value* mask);
  void write(Value* offset, Value* mask, Cell computed);
  Cell stored_cell(Cell value);
  Cell fma_term(Cell a, Cell b, Cell sum);
  Cell plus(Cell a, Cell b);
  Cell product(Cell a, Cell b);
  Cell zero(bool vector);
  Value* splat(Value* scalar);
  Value* lane_mask(Value* active);
  Value* doubled(Value* mask);
  Value* real_parts(int tensor, Value* address, Value* mask, std::int32_t part);
  Value* lane_addresses(Value* address, Value* stride);

  Value* int64(std::int64_t v) { return b_.getInt64(static_cast<std::uint64_t>(v)); }
  llvm::AllocaInst* local(llvm::Type* type, std::uint64_t elements = 1);
  llvm::Type* real_type(DType t) { return is_double(t) ? b_.getDoubleTy() : b_.getFloatTy(); }
  llvm::Type* cell_type(bool vector);
  GroupValues& values(AxisGroup g) { return groups_[static_cast<std::size_t>(g)]; }
  StrideClass stride_class(AxisGroup g, int tensor) const {
    return spec_.group(g).strides[static_cast<std::size_t>(tensor)];
  }
  int operands() const { return spec_.unary ? 1 : 2; }
  bool complex() const { return is_complex(spec_.compute); }

  llvm::Module& module_;
  const KernelSpec& spec_;
  const LoopNest& nest_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  std::array<Value*, 3> bases_{};
  std::array<GroupValues, 4> groups_{};
  Cell alpha_{}, beta_{};
  llvm::MDNode* scope_c_ = nullptr;  // alias scope of the destination
  llvm::MDNode* only_c_ = nullptr;
  std::int32_t width_ = 1;
};

/// Throws std::logic_error if a kernel of role overwrite uses a pointer that derives from c for
/// anything but a store.
void verify_role(const llvm::Function& function, const KernelSpec& spec);

/// Throws std::logic_error if a kernel may unwind or calls anything but an intrinsic.
void verify_leaf(const llvm::Function& function);

/// What every kernel's symbol is called, or begins with where kernels have telling names.
inline constexpr std::string_view kEntryName = "einjit_kernel";

}  // namespace einjit::jit
