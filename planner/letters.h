// The letters of labels: which code points may be one, and how UTF-8 spells them.
//
// Bytes ─decode→ code points ─encode→ bytes. Decoding never fails: what is no UTF-8 (overlong
// forms, surrogates, stray or missing bytes) becomes U+FFFD, and the column of the first such place
// is kept.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace einjit {

struct DecodedText {
  std::u32string points;
  std::optional<std::size_t> broken_at;  // column, in code points
};

DecodedText decode_utf8(std::string_view text);
void append_utf8(std::string& out, char32_t point);

/// A code point that SPEC "Expressions" lets stand for a label.
bool is_letter(char32_t point);
/// The white space that is ignored between tokens: U+0009–000D and U+0020.
bool is_space(char32_t point);

}  // namespace einjit
