// The law of destinations, checked on the compiled module: a kernel of role overwrite never loads through
// a pointer that derives from c.
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <stdexcept>
#include <vector>

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
  const llvm::Value* base = load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
  return base == function.getArg(0) && offset == offsetof(KernelArgs, c);
}

}  // namespace

void verify_role(const llvm::Function& function, const KernelSpec& spec) {
  if (spec.role() != Role::overwrite) return;
  std::vector<const llvm::Value*> derived;
  for (const llvm::Instruction& i : llvm::instructions(function))
    if (is_destination_base(i, function)) derived.push_back(&i);
  if (derived.empty()) throw std::logic_error("a kernel that never takes its destination: " + to_text(spec));
  for (std::size_t next = 0; next < derived.size(); ++next)
    for (const llvm::User* user : derived[next]->users()) {
      const auto* i = llvm::cast<llvm::Instruction>(user);
      const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(i);
      const bool loads = llvm::isa<llvm::LoadInst>(i) ||
                         (call && (call->getIntrinsicID() == llvm::Intrinsic::masked_load ||
                                   call->getIntrinsicID() == llvm::Intrinsic::masked_gather));
      if (loads)
        throw std::logic_error("an overwriting kernel loads from its destination: " + to_text(spec));
      if (i->getType()->isPtrOrPtrVectorTy()) derived.push_back(i);
      if (derived.size() > 1'000'000) throw std::logic_error("pointers of c form a cycle: " + to_text(spec));
    }
}

}  // namespace einjit::jit
