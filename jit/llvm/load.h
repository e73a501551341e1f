// Object code → executable memory.
#pragma once

#include <memory>
#include <string_view>

#include "jit/compiler.h"

namespace einjit::jit {

/// Owner of the ORC session; each loaded object has a ResourceTracker of its own. Thread-safe.
class Loader {
 public:
  Loader();
  ~Loader();
  std::unique_ptr<LoadedCode> load(std::string_view object);

  class Session;

 private:
  std::shared_ptr<Session> session_;
};

}  // namespace einjit::jit
