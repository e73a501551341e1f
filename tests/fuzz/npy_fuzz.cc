// Fuzzes parse_npy: only einjit::Error may escape, and what is read is as large as it says.
//
// Input: a .npy file. Accepted ones must have the header's bytes written anew accepted too, with
// the same meaning.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "einjit/error.h"
#include "runtime/npy.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace einjit;
  try {
    const NpyArray array = parse_npy(std::as_bytes(std::span(data, size)));
    std::size_t bytes = size_bytes(array.type);
    for (const std::int64_t extent : array.extents)
      if (extent == 0) bytes = 0;
    for (const std::int64_t extent : array.extents)
      if (bytes != 0) bytes *= static_cast<std::size_t>(extent);
    require(bytes == array.data.size());
    require(array.operand().strides.size() == array.extents.size());
    std::string again = npy_header(array.type, array.extents, array.order);
    require(again.size() % 64 == 0);
    again.append(reinterpret_cast<const char*>(array.data.data()), array.data.size());
    const NpyArray back = parse_npy(std::as_bytes(std::span(again.data(), again.size())));
    require(back.type == array.type && back.extents == array.extents && back.data == array.data);
  } catch (const Error&) {
  }
  return 0;
}
