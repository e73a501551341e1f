// Ctrl-C as a stop token.
#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

namespace einjit {

/// While it lives, the first SIGINT asks for a stop (the call in progress then fails with
/// `cancelled`); from the second on the signal has its usual effect. Make it before any other
/// thread starts.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  sigset_t signals_;
  std::stop_source stop_;
  std::jthread watcher_;
};

}  // namespace einjit
