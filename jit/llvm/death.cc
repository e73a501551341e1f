// The flag that the jit of this process has died: the only state that its Engines share.
#include "jit/llvm/death.h"

#include <atomic>

namespace einjit::jit {
namespace {

std::atomic<bool> dead{false};

}  // namespace

bool is_dead() { return dead.load(); }
void declare_dead() noexcept { dead = true; }

}  // namespace einjit::jit
