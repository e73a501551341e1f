// Object code → executable memory, by ORC and JITLink: pages are writable or executable, never
// both.
#include "jit/llvm/load.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/TaskDispatch.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <atomic>
#include <string>

#include "einjit/error.h"
#include "jit/llvm/emitter.h"

namespace einjit::jit {
namespace {

constexpr std::size_t kPage = 4096;

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

/// The bytes that an object takes once loaded: every section with memory of its own, in whole
/// pages.
std::size_t loaded_bytes(llvm::MemoryBufferRef object) {
  const auto file =
      check(llvm::object::ObjectFile::createELFObjectFile(object), "reading object code");
  std::size_t bytes = 0;
  for (const llvm::object::ELFSectionRef section : file->sections())
    if (section.getFlags() & llvm::ELF::SHF_ALLOC)
      bytes += (section.getSize() + kPage - 1) / kPage * kPage;
  return bytes;
}

}  // namespace

class Loader::Session {
 public:
  Session()
      : session_(check(llvm::orc::SelfExecutorProcessControl::Create(
                           nullptr, std::make_unique<llvm::orc::InPlaceTaskDispatcher>()),
                       "starting ORC")),
        layer_(session_, check(llvm::jitlink::InProcessMemoryManager::Create(), "JIT memory")) {}
  ~Session() { llvm::consumeError(session_.endSession()); }

  struct Code {
    llvm::orc::JITDylib* library;
    KernelEntry entry;
    std::size_t bytes;
  };
  Code add(std::string_view object) {
    const std::string name = "kernel" + std::to_string(next_++);
    llvm::orc::JITDylib& library = session_.createBareJITDylib(name);
    try {
      auto copy =
          llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), name);
      const std::size_t bytes = loaded_bytes(copy->getMemBufferRef());
      check(layer_.add(library, std::move(copy)), "reading object code");
      const auto symbol = check(
          session_.lookup({&library},
                          session_.intern(llvm::StringRef(kEntryName.data(), kEntryName.size()))),
          "linking a kernel");
      return {&library, symbol.getAddress().toPtr<KernelEntry>(), bytes};
    } catch (...) {
      remove(library);
      throw;
    }
  }
  void remove(llvm::orc::JITDylib& library) noexcept {
    llvm::consumeError(session_.removeJITDylib(library));
  }

 private:
  llvm::orc::ExecutionSession session_;
  llvm::orc::ObjectLinkingLayer layer_;
  std::atomic<std::uint64_t> next_{0};
};

namespace {

class Loaded final : public LoadedCode {
 public:
  Loaded(std::shared_ptr<Loader::Session> session, Loader::Session::Code code)
      : session_(std::move(session)), code_(code) {}
  ~Loaded() override { session_->remove(*code_.library); }
  KernelEntry entry() const override { return code_.entry; }
  std::size_t code_bytes() const override { return code_.bytes; }

 private:
  std::shared_ptr<Loader::Session> session_;
  Loader::Session::Code code_;
};

}  // namespace

Loader::Loader() : session_(std::make_shared<Session>()) {}
Loader::~Loader() = default;

std::unique_ptr<LoadedCode> Loader::load(std::string_view object) {
  return std::make_unique<Loaded>(session_, session_->add(object));
}

}  // namespace einjit::jit
