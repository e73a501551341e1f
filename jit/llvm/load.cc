// Object code → executable memory, by ORC and JITLink: pages are writable or executable, never
// both.
#include "jit/llvm/load.h"

#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkDylib.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/TaskDispatch.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "einjit/error.h"
#include "jit/llvm/death.h"
#include "jit/llvm/emitter.h"
#include "jit/llvm/thread_sanitizer.h"

namespace einjit::jit {
namespace {

/// LLVM's error as ours.
void check(llvm::Error error, const char* what) {
  if (!error) return;
  throw Error(ErrorCode::backend_failure,
              std::string(what) + ": " + llvm::toString(std::move(error)));
}
template <class T>
T check(llvm::Expected<T> value, const char* what) {
  if (!value) check(value.takeError(), what);
  return std::move(*value);
}

/// The one function of an object whose name begins as a kernel's does.
EntrySymbol entry_symbol(llvm::MemoryBufferRef object) {
  const char* reading = "reading object code";
  const auto file = check(llvm::object::ObjectFile::createELFObjectFile(object), reading);
  const auto* elf = llvm::dyn_cast<llvm::object::ELF64LEObjectFile>(file.get());
  if (elf == nullptr) throw Error(ErrorCode::backend_failure, "object code of another machine");
  for (const llvm::object::ELFSymbolRef symbol : elf->symbols()) {
    const llvm::StringRef name = check(symbol.getName(), reading);
    if (symbol.getELFType() != llvm::ELF::STT_FUNC ||
        !name.starts_with(llvm::StringRef(kEntryName.data(), kEntryName.size())))
      continue;
    const auto section = check(symbol.getSection(), reading);
    if (section == elf->section_end()) break;
    const auto* header = elf->getSection(section->getRawDataRefImpl());
    return {name.str(), symbol.getSize(), check(symbol.getValue(), reading),
            static_cast<std::uint64_t>(reinterpret_cast<const char*>(header) -
                                       object.getBufferStart())};
  }
  throw Error(ErrorCode::backend_failure, "object code without " + std::string(kEntryName));
}

/// JITLink's memory, which also knows what each library took of it.
class CountedMemory final : public llvm::jitlink::InProcessMemoryManager {
 public:
  CountedMemory() : InProcessMemoryManager(page_bytes()), page_(page_bytes()) {}
  void allocate(const llvm::jitlink::JITLinkDylib* library, llvm::jitlink::LinkGraph& graph,
                OnAllocatedFunction then) override {
    llvm::jitlink::BasicLayout layout(graph);
    if (auto sizes = layout.getContiguousPageBasedLayoutSizes(page_)) {
      const std::lock_guard lock(mutex_);
      bytes_[library] += sizes->StandardSegs;
    } else {
      llvm::consumeError(sizes.takeError());  // said again by the allocation itself
    }
    InProcessMemoryManager::allocate(library, graph, std::move(then));
  }
  /// Of one library, once.
  std::size_t take_bytes(const llvm::jitlink::JITLinkDylib& library) {
    const std::lock_guard lock(mutex_);
    const auto known = bytes_.find(&library);
    if (known == bytes_.end()) return 0;
    const std::size_t bytes = known->second;
    bytes_.erase(known);
    return bytes;
  }

 private:
  static std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }
  const std::uint64_t page_;
  std::mutex mutex_;
  std::map<const llvm::jitlink::JITLinkDylib*, std::size_t> bytes_;
};

}  // namespace

class Loader::Session {
 public:
  Session()
      : session_(check(llvm::orc::SelfExecutorProcessControl::Create(
                           nullptr, std::make_unique<llvm::orc::InPlaceTaskDispatcher>()),
                       "starting ORC")),
        layer_(*session_, memory_) {
    // By default ORC prints what it reports, and an error only says that there was a report.
    session_->setErrorReporter([this](llvm::Error error) {
      const std::lock_guard lock(reported_mutex_);
      reported_ = llvm::toString(std::move(error));
    });
  }
  ~Session() { llvm::consumeError(session_->endSession()); }

  struct Code {
    llvm::orc::JITDylib* library;
    KernelEntry entry;
    std::size_t bytes;
    std::shared_ptr<GdbEntry> gdb;
  };
  Code add(std::string_view object, const DebugNames& names) {
    const std::string name = "kernel" + std::to_string(next_++);
    llvm::orc::JITDylib& library = session_->createBareJITDylib(name);
    try {
      auto copy =
          llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), name);
      const EntrySymbol entry = entry_symbol(copy->getMemBufferRef());
      if (kThreadSanitizer) resolve_from_process(library);
      check(layer_->add(library, std::move(copy)), "reading object code");
      const auto symbol =
          check(session_->lookup({&library}, session_->intern(entry.name)), "linking a kernel");
      return {&library, symbol.getAddress().toPtr<KernelEntry>(), memory_.take_bytes(library),
              names.announce(object, entry, symbol.getAddress().getValue())};
    } catch (const Error& e) {
      (void)memory_.take_bytes(library);
      remove(library);
      throw Error(e.code(), e.what() + taken_report());
    }
  }
  void remove(llvm::orc::JITDylib& library) noexcept {
    llvm::consumeError(session_->removeJITDylib(library));
  }

 private:
  std::string taken_report() {
    const std::lock_guard lock(reported_mutex_);
    return reported_.empty() ? "" : ": " + std::exchange(reported_, "");
  }

  /// ThreadSanitizer's functions are the only ones that a kernel may call, and in one preset only.
  void resolve_from_process(llvm::orc::JITDylib& library) {
    library.addGenerator(check(
        llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
            '\0',
            [](const llvm::orc::SymbolStringPtr& name) { return (*name).starts_with("__tsan_"); }),
        "ThreadSanitizer's functions"));
  }

  CountedMemory memory_;
  std::mutex reported_mutex_;
  std::string reported_;
  Fragile<llvm::orc::ExecutionSession> session_;
  Fragile<llvm::orc::ObjectLinkingLayer> layer_;
  std::atomic<std::uint64_t> next_{0};
};

namespace {

class Loaded final : public LoadedCode {
 public:
  Loaded(std::shared_ptr<Loader::Session> session, Loader::Session::Code code)
      : session_(std::move(session)), code_(std::move(code)) {}
  ~Loaded() override {
    code_.gdb.reset();
    const InsideLlvm inside;
    if (!is_dead()) session_->remove(*code_.library);
    session_.reset();
  }
  KernelEntry entry() const override { return code_.entry; }
  std::size_t code_bytes() const override { return code_.bytes; }

 private:
  std::shared_ptr<Loader::Session> session_;
  Loader::Session::Code code_;
};

/// No session is ended after an exception from LLVM: it might wait for a lock that nobody holds.
void end_session(Loader::Session* session) {
  if (!is_dead()) delete session;
}

}  // namespace

Loader::Loader(const DebugNames& names) : session_(new Session, end_session), names_(names) {}
Loader::~Loader() {
  const InsideLlvm inside;
  session_.reset();
}

std::unique_ptr<LoadedCode> Loader::load(std::string_view object) {
  return std::make_unique<Loaded>(session_, session_->add(object, names_));
}

}  // namespace einjit::jit
