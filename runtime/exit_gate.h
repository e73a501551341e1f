// Keeps exit() from pulling a library away under the threads that are inside it.
//
// exit() runs the destructors of shared libraries (OpenBLAS unmaps its buffers, LLVM drops its
// options) while other threads still run. So whoever calls into such a library enters here first,
// and the gate closes before those destructors.
#pragma once

namespace einjit {

class ExitGate {
 public:
  /// Call it after a library is opened: the gate then closes before that library is torn down.
  static void guard_opened_library();

  /// To be held inside the library. After exit() has begun its constructor never returns, except
  /// on the thread that runs exit(); that thread waits for those that are inside.
  ExitGate() noexcept;
  ~ExitGate();
  ExitGate(const ExitGate&) = delete;
  ExitGate& operator=(const ExitGate&) = delete;
};

}  // namespace einjit
