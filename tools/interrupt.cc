// SIGINT is blocked in every thread and taken by one that waits for it.
#include "tools/interrupt.h"

#include <ctime>

namespace einjit {
namespace {

constexpr timespec kPoll{0,
                         20'000'000};  // how long the end of the program may wait for the watcher

}  // namespace

Interrupt::Interrupt() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  watcher_ = std::jthread([this](const std::stop_token& ended) {
    while (!ended.stop_requested())
      if (sigtimedwait(&signals_, nullptr, &kPoll) == SIGINT) {
        stop_.request_stop();
        pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);  // of this thread: the next one ends us
        while (!ended.stop_requested()) nanosleep(&kPoll, nullptr);
      }
  });
}

Interrupt::~Interrupt() {
  watcher_.request_stop();
  watcher_.join();
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

}  // namespace einjit
