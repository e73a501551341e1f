// What a call that must be refused says.
#pragma once

#include <string>

#include "einjit/error.h"

namespace einjit {

/// "code: sentence", or "not refused".
inline std::string refused(auto&& action) {
  try {
    action();
  } catch (const Error& e) {
    return std::string(name(e.code())) + ": " + e.what();
  }
  return "not refused";
}
inline bool has(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

}  // namespace einjit
