// The header of a .npy file: from bytes to type, shape and order, and back.
//
// The header is a Python dictionary of three keys; only what numpy writes in it is read: strings,
// True and False, tuples of integers. Every number is checked before it is multiplied, and the
// product is compared with the file's own size, so that a lying header costs nothing.
#include "runtime/npy_header.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "einjit/error.h"

namespace einjit {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kTypeNames[] = {"f4", "f8", "c8", "c16"};  // by DType
constexpr std::size_t kAlignment = 64;                                // of the elements in the file
constexpr std::size_t kGrowthDigits =
    21;  // numpy leaves room for the longest first (or last) extent

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What a file holds may be anything: for sentences, its first characters, those that print.
std::string shown(std::string_view found) {
  std::string text;
  for (const char c : found.substr(0, 40)) text += c >= ' ' && c <= '~' ? c : '?';
  return "'" + text + (found.size() > 40 ? "…'" : "'");
}

class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  NpyHeader read() {
    NpyHeader header;
    bool has_type = false, has_order = false, has_shape = false;
    const auto once = [&](bool& seen, const char* key) {
      if (seen) corrupt(std::string("the key '") + key + "' stands twice");
      seen = true;
    };
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr") {
        once(has_type, "descr");
        header.type = type();
      } else if (key == "fortran_order") {
        once(has_order, "fortran_order");
        header.order = boolean() ? NpyOrder::fortran : NpyOrder::c;
      } else if (key == "shape") {
        once(has_shape, "shape");
        header.extents = Dims(shape());
      } else {
        corrupt("there is no key " + shown(key));
      }
      if (accept('}')) break;
      expect(',');
    }
    skip_space();
    if (!rest_.empty()) corrupt("after the dictionary stands " + shown(rest_));
    for (const auto& [seen, key] :
         {std::pair(has_type, "descr"), {has_order, "fortran_order"}, {has_shape, "shape"}})
      if (!seen) corrupt(std::string("the key '") + key + "' is missing");
    return header;
  }

 private:
  [[noreturn]] void corrupt(const std::string& what) const {
    throw Error(ErrorCode::corrupt_file, name_ + ": its .npy header cannot be read: " + what);
  }
  void skip_space() {
    const std::size_t at = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(std::min(at, rest_.size()));
  }
  bool accept(char c) {
    skip_space();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) corrupt(std::string("expected '") + c + "', found " + shown(rest_));
  }
  std::string_view string() {
    skip_space();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const std::size_t end = rest_.find(quote, 1);
    if ((quote != '\'' && quote != '"') || end == std::string_view::npos)
      corrupt("expected a string, found " + shown(rest_));
    const std::string_view value = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return value;
  }
  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    corrupt("fortran_order is neither True nor False but " + shown(rest_));
  }

  DType type() {
    skip_space();
    if (rest_.starts_with('['))
      throw Error(ErrorCode::dtype_mismatch,
                  name_ + ": its elements are records (" + shown(rest_) +
                      "); einjit reads f4, f8, c8 and c16: save one field of it");
    const std::string_view written = string();
    // '=' and '|' say "as this machine": the same as '<' here.
    const bool has_order = !written.empty() &&
                           std::string_view("<>=|").find(written.front()) != std::string_view::npos;
    const std::string_view plain = written.substr(has_order ? 1 : 0);
    const auto at = std::find(std::begin(kTypeNames), std::end(kTypeNames), plain);
    if (at == std::end(kTypeNames))
      throw Error(ErrorCode::dtype_mismatch,
                  name_ + ": its elements are of numpy's type " + shown(written) +
                      "; einjit reads f4, f8, c8 and c16: convert with a.astype('f8')");
    if (written.front() == '>')
      throw Error(ErrorCode::unsupported, name_ + ": its elements " + shown(written) +
                                              " are big-endian; convert with a.astype('<" +
                                              std::string(plain) + "')");
    return static_cast<DType>(at - std::begin(kTypeNames));
  }

  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> extents;
    expect('(');
    while (!accept(')')) {
      if (extents.size() == kNpyMostAxes)
        corrupt("its shape has over " + std::to_string(kNpyMostAxes) + " axes");
      extents.push_back(extent());
      if (accept(')')) {
        if (extents.size() == 1) corrupt("its shape is an integer in parentheses, not a tuple");
        break;
      }
      expect(',');
    }
    return extents;
  }
  std::int64_t extent() {
    skip_space();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{} || value < 0) corrupt("an extent cannot be " + shown(rest_));
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // written by Python 2
    return value;
  }

  std::string_view rest_;
  const std::string& name_;
};

/// Bytes of the elements, or nothing where a 64-bit number does not hold them.
std::optional<std::uint64_t> checked_size(DType type, const Dims& extents) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  std::uint64_t bytes = size_bytes(type);
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes))
      return std::nullopt;
  return bytes;
}

std::string shape_text(const Dims& extents) {
  std::string text = "(";
  for (std::size_t i = 0; i < extents.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(extents[i]);
  return text + (extents.size() == 1 ? ",)" : ")");
}

}  // namespace

std::uint64_t npy_data_offset(std::span<const std::byte> preamble, const std::string& name) {
  const auto corrupt = [&](const std::string& what) {
    return Error(ErrorCode::corrupt_file, name + " is no .npy file: " + what);
  };
  const std::string_view text = text_of(preamble);
  if (!text.starts_with(kMagic))
    throw corrupt("it begins with " + shown(text.substr(0, kMagic.size())) +
                  ", not with \\x93NUMPY");
  const auto byte = [&](std::size_t i) -> std::uint64_t {
    if (i >= preamble.size())
      throw corrupt("it ends after " + std::to_string(preamble.size()) + " bytes, in its header");
    return std::to_integer<std::uint64_t>(preamble[i]);
  };
  const std::uint64_t major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0)
    throw corrupt("its version is " + std::to_string(major) + "." + std::to_string(minor) +
                  "; einjit reads 1.0, 2.0 and 3.0");
  const std::uint64_t short_length = byte(8) | byte(9) << 8;
  return major == 1 ? 10 + short_length : 12 + (short_length | byte(10) << 16 | byte(11) << 24);
}

NpyHeader parse_npy_header(std::span<const std::byte> before_data, std::uint64_t file_bytes,
                           const std::string& name) {
  const std::size_t begin = before_data[6] == std::byte{1} ? 10 : 12;
  NpyHeader header = HeaderReader(text_of(before_data).substr(begin), name).read();
  const std::uint64_t found = file_bytes - before_data.size();
  const std::optional<std::uint64_t> wanted = checked_size(header.type, header.extents);
  if (wanted != found)
    throw Error(ErrorCode::corrupt_file,
                name + ": " + shape_text(header.extents) + " elements of " +
                    std::string(einjit::name(header.type)) + " take " +
                    (wanted ? std::to_string(*wanted) : "over 2^64") + " bytes, but " +
                    std::to_string(found) + " stand after its header");
  header.elements_bytes = found;
  return header;
}

std::string npy_header(DType type, const Dims& extents, NpyOrder order) {
  return with_typed_memory_errors([&]() -> std::string {
    // numpy calls an array that is dense in both orders C: at most one axis longer than 1, or no
    // elements.
    const auto longer =
        std::count_if(extents.begin(), extents.end(), [](auto e) { return e != 1; });
    const bool empty = std::find(extents.begin(), extents.end(), 0) != extents.end();
    const bool fortran = order == NpyOrder::fortran && longer > 1 && !empty;
    std::string text = "{'descr': '<" + std::string(kTypeNames[static_cast<std::size_t>(type)]) +
                       "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + shape_text(extents) + ", }";
    if (extents.size() > 0) {
      const std::int64_t growing = extents[fortran ? extents.size() - 1 : 0];
      text.append(kGrowthDigits - std::to_string(growing).size(), ' ');
    }
    const std::size_t before = kMagic.size() + 4;
    text.append(kAlignment - (before + text.size() + 1) % kAlignment, ' ');
    text += '\n';
    const std::size_t length = text.size();
    return std::string(kMagic) + '\1' + '\0' + static_cast<char>(length & 0xff) +
           static_cast<char>(length >> 8) + text;
  });
}

}  // namespace einjit
