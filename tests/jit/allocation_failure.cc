// allocation_failure: what becomes of a process in which one allocation of a compilation fails.
//
// The parent starts itself once for each sampled allocation, with a watchdog. A child compiles a
// first kernel, then lets the n-th operator new of a second call fail, and says what came of it.
// Inside LLVM such a failure is not survivable in general: it may hang, crash or abort, and those
// children are only counted. Faults are: a wrong result; an untyped exception; a jit that goes on
// after an exception from LLVM; a reference or BLAS call that does not go on; and a hang or crash
// where the failed allocation was not LLVM's.
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "einjit/einjit.h"

namespace {

// ── operator new that fails once
// ──────────────────────────────────────────────────────────────────────
thread_local long long countdown = 0;  // 0: not armed
long long seen = 0;
bool fell_in_llvm = false;

/// Does a frame of this thread's stack lie in LLVM, or in the jit's module that calls it?
bool llvm_is_above() {
  void* frames[64];
  const int count = backtrace(frames, 64);
  for (int i = 0; i < count; ++i) {
    Dl_info info{};
    if (dladdr(frames[i], &info) != 0 && info.dli_fname != nullptr &&
        std::strstr(info.dli_fname, "libLLVM") != nullptr)
      return true;
  }
  return false;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (countdown > 0) {
    ++seen;
    if (--countdown == 0) {
      fell_in_llvm = llvm_is_above();
      return nullptr;
    }
  }
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes == 0 ? 1 : bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment = 1) {
  if (void* memory = allocate(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 1); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

using namespace einjit;

// ── the child
// ─────────────────────────────────────────────────────────────────────────────────────────
constexpr std::int64_t kSide = 5;

std::vector<double> numbers(int seed) {
  std::vector<double> values(kSide * kSide);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>((7 * i + 13 * static_cast<std::size_t>(seed)) % 11) - 5;
  return values;
}

/// "right", "wrong", the code of the error, or "untyped". Its n-th allocation fails (0: none).
std::string call(Engine& engine, const char* expression, const char* backend, long long n = 0) {
  const std::vector<double> a = numbers(1), b = numbers(2);
  const View<double> left(a.data(), {kSide, kSide}), right(b.data(), {kSide, kSide});
  EinsumOptions options;
  options.backend = backend;
  const bool product = std::string_view(expression) == "ij,jk->ik";
  countdown = n;
  try {
    const Tensor c =
        product ? einsum(ExecContext::serial(engine), expression, {Operand(left), Operand(right)},
                         options)
                : einsum(ExecContext::serial(engine), expression, {Operand(left)}, options);
    countdown = 0;
    const auto found = c.values<double>();
    for (std::int64_t i = 0; i < kSide; ++i)
      for (std::int64_t k = 0; k < kSide; ++k) {
        double sum = product ? 0 : a[static_cast<std::size_t>(k * kSide + i)];
        for (std::int64_t j = 0; product && j < kSide; ++j)
          sum += a[static_cast<std::size_t>(i * kSide + j)] *
                 b[static_cast<std::size_t>(j * kSide + k)];
        if (found[static_cast<std::size_t>(i * kSide + k)] != sum) return "wrong";
      }
    return "right";
  } catch (const Error& e) {
    countdown = 0;
    return std::string(name(e.code()));
  } catch (...) {
    countdown = 0;
    return "untyped";
  }
}

void say(const char* key, const std::string& value) {
  const std::string line = std::string(key) + "=" + value + "\n";
  (void)!write(STDOUT_FILENO, line.data(), line.size());
}

/// The signal handler of a crash: where the allocation fell is all that it says.
void crashed(int signal) {
  const char* place = fell_in_llvm ? "place=llvm\n" : "place=ours\n";
  (void)!write(STDOUT_FILENO, place, std::strlen(place));
  _exit(128 + signal);
}

int child(long long n) {
  void* warm[4];
  (void)backtrace(warm, 4);  // loads what it needs
  for (const int s : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGALRM}) signal(s, &crashed);
  {
    Engine engine = Engine::make();
    if (call(engine, "ij->ji", "jit!") != "right") return 2;
    alarm(5);
    seen = 0;
    const std::string first = call(engine, "ij,jk->ik", "jit!", n > 0 ? n : 1LL << 60);
    say("allocations", std::to_string(seen));
    say("place", fell_in_llvm ? "llvm" : "ours");
    say("first", first);
    say("later", call(engine, "ij,jk->ik", "jit!"));
    Engine other = Engine::make();
    say("other", call(other, "ij->ji", "jit!"));
    say("known", call(engine, "ij->ji", "jit!"));
    say("reference", call(engine, "ij,jk->ik", "reference"));
    say("blas", call(engine, "ij,jk->ik", "blas"));
    say("auto", call(engine, "ij,jk->ik", "auto"));
    engine.clear();
  }
  say("ended", "yes");
  return 0;
}

// ── the parent
// ────────────────────────────────────────────────────────────────────────────────────────
struct Outcome {
  std::map<std::string, std::string> said;
  bool hung = false, crashed = false;
};

Outcome start_child(long long n) {
  int ends[2];
  if (pipe(ends) != 0) std::exit(2);
  const std::string argument = std::to_string(n);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl("/proc/self/exe", "allocation_failure", "--child", argument.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  Outcome outcome;
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::seconds(20);
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() > end) {  // the child's own alarm did not end it either
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      outcome.hung = true;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::string text;
  char block[512];
  for (ssize_t got; (got = read(ends[0], block, sizeof block)) > 0;)
    text.append(block, static_cast<std::size_t>(got));
  close(ends[0]);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t newline = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, newline - at);
    if (const std::size_t equals = line.find('='); equals != std::string::npos)
      outcome.said[line.substr(0, equals)] = line.substr(equals + 1);
    at = newline + 1;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGALRM) outcome.hung = true;
  outcome.crashed = !outcome.hung && !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return outcome;
}

/// The name under which the tally counts a child; `fault` is set where einjit is to blame.
std::string classify(Outcome& o, std::string& fault) {
  const bool llvm = o.said["place"] == "llvm";
  if (o.hung || o.crashed) {
    const std::string what = o.hung ? "hung" : "crashed or aborted";
    if (!llvm) fault = what + " though the allocation was not LLVM's";
    return what + (o.said.contains("first") ? " after the failed call" : " inside LLVM");
  }
  for (const char* going_on : {"reference", "blas", "auto", "known"})
    if (o.said[going_on] != "right") fault = std::string(going_on) + ": " + o.said[going_on];
  if (o.said["ended"] != "yes") fault = "the Engine did not end";
  const std::string& first = o.said["first"];
  const std::string& later = o.said["later"];
  if (first == "backend_failure") {
    if (later != first || o.said["other"] != first)
      fault = "the jit goes on after its death: later " + later + ", elsewhere " + o.said["other"];
    return "backend_failure, the jit dead, all else right";
  }
  if (later != "right" || o.said["other"] != "right") fault = "later: " + later;
  if (first == "right") return "right: LLVM did without";
  if (first == "out_of_memory") return "out_of_memory outside LLVM, later right";
  fault = "first: " + first;
  return first;
}

int parent(long long samples) {
  Outcome whole = start_child(0);
  const long long all = std::atoll(whole.said["allocations"].c_str());
  if (all < 500 || whole.said["first"] != "right" || whole.said["ended"] != "yes") {
    std::printf("the child in which nothing fails: %lld allocations, %s\n", all,
                whole.said["first"].c_str());
    return 1;
  }
  std::map<std::string, int> tally;
  int faults = 0;
  samples = std::min(samples, all);
  for (long long i = 0; i < samples; ++i) {
    const long long n = 1 + i * all / samples;
    Outcome outcome = start_child(n);
    std::string fault;
    ++tally[classify(outcome, fault)];
    if (fault.empty()) continue;
    ++faults;
    std::printf("FAULT: allocation %lld of %lld: %s\n", n, all, fault.c_str());
  }
  std::printf("%lld of %lld allocations of one call made to fail, one a process\n", samples, all);
  for (const auto& [what, count] : tally) std::printf("%6d  %s\n", count, what.c_str());
  std::printf("passed %lld, failed %d\n", samples - faults, faults);
  return faults == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--child") return child(std::atoll(argv[2]));
  return parent(argc == 2 ? std::atoll(argv[1]) : 100);
}
