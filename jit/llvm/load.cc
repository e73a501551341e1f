// Object code → executable memory, by ORC and JITLink: pages are writable or executable, never both.
#include "jit/llvm/load.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
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
  throw Error(ErrorCode::backend_failure, std::string(what) + ": " + llvm::toString(std::move(error)));
}
template <class T>
T check(llvm::Expected<T> value, const char* what) {
  if (!value) check(value.takeError(), what);
  return std::move(*value);
}

/// Counts the bytes of every section that a link keeps.
class SizeCounter : public llvm::orc::ObjectLinkingLayer::Plugin {
 public:
  void modifyPassConfig(llvm::orc::MaterializationResponsibility&, llvm::jitlink::LinkGraph&,
                        llvm::jitlink::PassConfiguration& config) override {
    config.PostAllocationPasses.push_back([](llvm::jitlink::LinkGraph& graph) {
      std::size_t bytes = 0;
      for (auto& section : graph.sections()) {
        std::size_t size = 0;
        for (auto* block : section.blocks()) size += block->getSize();
        bytes += (size + kPage - 1) / kPage * kPage;
      }
      last_bytes() = bytes;
      return llvm::Error::success();
    });
  }
  llvm::Error notifyFailed(llvm::orc::MaterializationResponsibility&) override { return llvm::Error::success(); }
  llvm::Error notifyRemovingResources(llvm::orc::JITDylib&, llvm::orc::ResourceKey) override {
    return llvm::Error::success();
  }
  void notifyTransferringResources(llvm::orc::JITDylib&, llvm::orc::ResourceKey, llvm::orc::ResourceKey) override {}

  /// Links run on the thread that asks for the symbol, so the count of its own link is this thread's.
  static std::size_t& last_bytes() {
    thread_local std::size_t bytes = 0;
    return bytes;
  }
};

}  // namespace

class Loader::Session {
 public:
  Session()
      : session_(check(llvm::orc::SelfExecutorProcessControl::Create(), "starting ORC")),
        layer_(session_, check(llvm::jitlink::InProcessMemoryManager::Create(), "JIT memory")) {
    layer_.addPlugin(std::make_shared<SizeCounter>());
  }
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
      SizeCounter::last_bytes() = 0;
      check(layer_.add(library, llvm::MemoryBuffer::getMemBufferCopy(
                                    llvm::StringRef(object.data(), object.size()), name)),
            "reading object code");
      const auto symbol =
          check(session_.lookup({&library}, session_.intern(llvm::StringRef(kEntryName.data(), kEntryName.size()))),
                "linking a kernel");
      return {&library, symbol.getAddress().toPtr<KernelEntry>(), SizeCounter::last_bytes()};
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
