// The letters of labels: which code points may be one, and how UTF-8 spells them.
#include "planner/letters.h"

#include <cstdint>

namespace einjit {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct Range {
  char32_t first, last;
};

// From U+00AA on, everything is a letter but these. C1 controls and U+00A0 lie below.
constexpr Range kNoLetters[] = {
    {0x1680, 0x1680},  // ogham space
    {0x2000, 0x200F},  // spaces, zero-width marks
    {0x2010, 0x2027},  // dashes, quotes, dots: look-alikes of punctuation
    {0x2028, 0x202F},  // separators, directional marks, narrow space
    {0x205F, 0x206F},  // mathematical space, invisible operators
    {0x2190, 0x22FF},  // arrows, mathematical operators
    {0x27F0, 0x27FF},  // long arrows
    {0x3000, 0x3003},  // ideographic space and punctuation
    {0xD800, 0xDFFF},  // surrogates
    {0xFDD0, 0xFDEF},  // non-characters
    {0xFEFF, 0xFEFF},  // byte-order mark
    {0xFF00, 0xFF20},  // full-width punctuation
};

/// Length that a leading byte announces; 0 for a byte that cannot lead.
std::size_t length_announced(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

/// The code point at the start of `text`; its length is 0 where there is none.
std::size_t decode_one(std::string_view text, char32_t& point) {
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = length_announced(lead);
  if (length == 0 || length > text.size()) return 0;
  point = length == 1 ? lead : lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0u) != 0x80u) return 0;
    point = (point << 6) | (byte & 0x3Fu);
  }
  const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
  return point < kSmallest[length] || point > 0x10FFFF || surrogate ? 0 : length;
}

}  // namespace

DecodedText decode_utf8(std::string_view text) {
  DecodedText decoded;
  decoded.points.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    char32_t point = 0;
    const std::size_t length = decode_one(text.substr(i), point);
    if (length == 0) {
      if (!decoded.broken_at) decoded.broken_at = decoded.points.size();
      point = kReplacement;
    }
    decoded.points.push_back(point);
    i += length == 0 ? 1 : length;
  }
  return decoded;
}

void append_utf8(std::string& out, char32_t point) {
  const auto byte = [&](char32_t value) { out.push_back(static_cast<char>(value)); };
  if (point < 0x80) {
    byte(point);
    return;
  }
  if (point < 0x800) {
    byte(0xC0 | (point >> 6));
  } else if (point < 0x10000) {
    byte(0xE0 | (point >> 12));
    byte(0x80 | ((point >> 6) & 0x3F));
  } else {
    byte(0xF0 | (point >> 18));
    byte(0x80 | ((point >> 12) & 0x3F));
    byte(0x80 | ((point >> 6) & 0x3F));
  }
  byte(0x80 | (point & 0x3F));
}

bool is_letter(char32_t point) {
  if ((point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z')) return true;
  if (point < 0xAA || point > 0x10FFFF) return false;
  if ((point & 0xFFFE) == 0xFFFE) return false;  // the two non-characters that end each plane
  for (const Range& range : kNoLetters)
    if (point >= range.first && point <= range.last) return false;
  return true;
}

bool is_space(char32_t point) { return point == 0x20 || (point >= 0x09 && point <= 0x0D); }

}  // namespace einjit
