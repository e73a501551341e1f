// A file as bytes: opened for reading with its size known, or written beside its path and renamed.
#include "runtime/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "einjit/error.h"

namespace einjit {
namespace {

constexpr std::size_t kLongestTransfer = 1 << 30;  // Linux moves at most 2 GiB a call
constexpr int kTemporaryNames = 100;  // left behind by earlier processes of the same id

Error system_error(const std::string& what, const std::string& path, int number) {
  return {ErrorCode::io_error,
          "cannot " + what + " '" + path + "': " + std::generic_category().message(number)};
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw system_error("open", path, errno);
  struct stat facts{};
  if (fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    ::close(descriptor_);
    throw Error(ErrorCode::io_error, "cannot read '" + path + "': it is no regular file");
  }
  bytes_ = static_cast<std::uint64_t>(facts.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(std::span<std::byte> to) {
  while (!to.empty()) {
    const ssize_t n = ::read(descriptor_, to.data(), std::min(to.size(), kLongestTransfer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("read", path_, errno);
    if (n == 0)
      throw Error(ErrorCode::corrupt_file, "'" + path_ + "' ends " + std::to_string(to.size()) +
                                               " bytes before its size when it was opened");
    to = to.subspan(static_cast<std::size_t>(n));
  }
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))
    throw Error(ErrorCode::io_error, "cannot write '" + path + "': it is no regular file");
  for (int i = 0; i < kTemporaryNames && descriptor_ < 0; ++i) {
    temporary_ = path + ".part" + std::to_string(::getpid()) + "-" + std::to_string(i);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) throw system_error("write", path, errno);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kLongestTransfer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("write", path_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void OutputFile::commit() {
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 || std::rename(temporary_.c_str(), path_.c_str()) != 0)
    throw system_error("write", path_, errno);
  temporary_.clear();
}

std::string read_whole_file(const std::string& path) {
  InputFile file(path);
  std::string text(file.bytes(), '\0');
  file.read(std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace einjit
