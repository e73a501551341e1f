// A file as bytes: opened for reading with its size known, or written beside its path and renamed.
//
// Every fault of the system is an Error{io_error} with the path and the system's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace einjit {

/// A regular file, open for reading from its start to its end.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  std::uint64_t bytes() const { return bytes_; }  // when it was opened
  /// Fills the whole span with what comes next; corrupt_file if the file has shrunk meanwhile.
  void read(std::span<std::byte> to);

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

/// A new file that takes the place of `path` when commit() is called, and else disappears.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  std::string path_, temporary_;
  int descriptor_ = -1;
};

std::string read_whole_file(const std::string& path);

}  // namespace einjit
