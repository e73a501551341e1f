// The law of destinations, checked on the compiled module: in a kernel of role overwrite a pointer
// that derives from c is moved and stored to, and used for nothing else. What is not known to be a
// store is refused, so a load cannot hide behind a call, a cast to an integer or a copy of the
// pointer.
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/raw_ostream.h>

#include <stdexcept>

#include "einjit/kernel_abi.h"
#include "jit/llvm/emitter.h"

namespace einjit::jit {
namespace {

/// Is this the load of KernelArgs::c from the argument block?
bool is_destination_base(const llvm::Instruction& i, const llvm::Function& function) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i);
  if (load == nullptr || !load->getType()->isPointerTy()) return false;
  llvm::APInt offset(64, 0);
  const auto& layout = function.getParent()->getDataLayout();
  const llvm::Value* base =
      load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
  return base == function.getArg(0) && offset == offsetof(KernelArgs, c);
}

/// Does it give another pointer (or vector of pointers) into the same tensor?
bool moves_pointer(const llvm::Instruction& i) {
  return i.getType()->isPtrOrPtrVectorTy() &&
         llvm::isa<llvm::GetElementPtrInst, llvm::PHINode, llvm::SelectInst, llvm::FreezeInst,
                   llvm::InsertElementInst, llvm::ShuffleVectorInst>(i);
}

/// Is this use the address of a store?
bool only_stores_to(const llvm::Use& use) {
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(use.getUser()))
    return use.getOperandNo() == store->getPointerOperandIndex();
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(use.getUser());
  return call != nullptr && use.getOperandNo() == 1 &&
         (call->getIntrinsicID() == llvm::Intrinsic::masked_store ||
          call->getIntrinsicID() == llvm::Intrinsic::masked_scatter);
}

std::string text_of(const llvm::Instruction& i) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  i.print(stream);
  return stream.str();
}

}  // namespace

void verify_role(const llvm::Function& function, const KernelSpec& spec) {
  if (spec.role() != Role::overwrite) return;
  llvm::SetVector<const llvm::Value*> derived;
  for (const llvm::Instruction& i : llvm::instructions(function))
    if (is_destination_base(i, function)) derived.insert(&i);
  if (derived.empty())
    throw std::logic_error("a kernel that never takes its destination: " + to_text(spec));
  for (std::size_t next = 0; next < derived.size(); ++next)
    for (const llvm::Use& use : derived[next]->uses()) {
      const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      if (moves_pointer(*user))
        derived.insert(user);
      else if (!only_stores_to(use))
        throw std::logic_error("an overwriting kernel uses its destination in '" + text_of(*user) +
                               "': " + to_text(spec));
    }
}

}  // namespace einjit::jit
