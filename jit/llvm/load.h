// Object code → executable memory.
#pragma once

#include <memory>
#include <string_view>

#include "jit/compiler.h"
#include "jit/llvm/debug_names.h"

namespace einjit::jit {

/// Owner of the ORC session; each loaded object is a JITDylib of its own. Thread-safe.
class Loader {
 public:
  explicit Loader(const DebugNames& names);
  ~Loader();
  std::unique_ptr<LoadedCode> load(std::string_view object);

  class Session;

 private:
  std::shared_ptr<Session> session_;
  const DebugNames names_;
};

}  // namespace einjit::jit
