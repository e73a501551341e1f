// The count of threads inside, and the handler that waits for them.
#include "runtime/exit_gate.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace einjit {
namespace {

constinit std::atomic<int> inside{0};
constinit std::atomic<bool> closed{false};
constinit thread_local bool exiting = false;  // this thread runs exit()

void close_gate() {
  exiting = true;
  closed = true;
  while (inside > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

void ExitGate::guard_opened_library() {
  // Handlers run in reverse order of registration, the library's own were registered before.
  std::atexit(&close_gate);
  pthread_atfork(nullptr, nullptr, [] { inside = 0; });  // a child has none of the other threads
}

ExitGate::ExitGate() noexcept {
  ++inside;
  if (!closed || exiting) return;
  --inside;
  for (;;) pause();
}

ExitGate::~ExitGate() { --inside; }

}  // namespace einjit
