// Reads the words and numbers of the planner's text formats, refusing anything else with the line
// number.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "einjit/error.h"

namespace einjit {

class WordReader {
 public:
  WordReader(std::string_view what, std::string_view text) : what_(what), rest_(text) {}

  [[noreturn]] void corrupt(std::string_view found) const {
    throw Error(ErrorCode::corrupt_file, std::string(what_) + ", line " + std::to_string(line_) +
                                             ": cannot read '" + std::string(found.substr(0, 60)) +
                                             "'");
  }
  /// The next line; false at the end of the text. What is left of the line before is refused.
  bool next_line() {
    if (!words_.empty()) corrupt(words_);
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    words_ = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
    ++line_;
    return true;
  }
  bool at_end_of_line() const { return words_.empty(); }
  /// Up to the next space.
  std::string_view word() {
    if (words_.empty()) corrupt("end of line");
    return cut(words_, ' ');
  }
  void expect(std::string_view wanted) {
    if (const std::string_view found = word(); found != wanted) corrupt(found);
  }
  /// The rest of the line.
  std::string_view rest_of_line() {
    const std::string_view all = words_;
    words_ = {};
    return all;
  }
  template <class T>
  T number(std::string_view text) const {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) corrupt(text);
    return value;
  }
  template <class T>
  T number() {
    return number<T>(word());
  }
  template <class Names>
  std::size_t index_of(const Names& names, std::string_view text) const {
    std::size_t i = 0;
    for (const std::string_view name : names) {
      if (name == text) return i;
      ++i;
    }
    corrupt(text);
  }
  /// Cuts the part before the separator off the front of a word.
  static std::string_view cut(std::string_view& text, char separator) {
    const std::size_t at = text.find(separator);
    const std::string_view part = text.substr(0, at);
    text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
    return part;
  }

 private:
  std::string_view what_, rest_, words_;
  std::int64_t line_ = 0;
};

/// The shortest text that reads back as the same double.
inline std::string number_text(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

}  // namespace einjit
