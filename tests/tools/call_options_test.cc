// Command-line words that become numbers and paths.
#include "tools/call_options.h"

#include <doctest/doctest.h>

using namespace einjit;

TEST_CASE("bytes with suffixes") {
  CHECK(parse_bytes("0") == 0);
  CHECK(parse_bytes("1500") == 1500);
  CHECK(parse_bytes("512k") == 512 * 1024);
  CHECK(parse_bytes("1.5G") == 1.5 * 1024 * 1024 * 1024);
  for (const char* wrong : {"", "k", "-1", "12x", "12kk", "nan", "1 M"})
    CHECK_THROWS_AS(parse_bytes(wrong), Error);
}

TEST_CASE("sizes and finders") {
  CallOptions call;
  call.sizes = {"F=3", "é=10"};
  call.path = "greedy";
  const EinsumOptions options = call.einsum_options();
  CHECK(options.finder == "greedy");
  CHECK_FALSE(options.path);
  REQUIRE(options.sizes.size() == 2);
  CHECK(options.sizes[0] == LabelExtent{'F', 3});
  CHECK(options.sizes[1] == LabelExtent{0xE9, 10});
  for (const char* wrong : {"F", "F=", "=3", "FG=3", "F=3x"}) {
    call.sizes = {wrong};
    CHECK_THROWS_AS(call.einsum_options(), Error);
  }
}

TEST_CASE("stored paths") {
  CallOptions call;
  call.path = "stored:ours";
  CHECK_THROWS_AS(call.einsum_options(), Error);
  NetworkFile network;
  network.paths["ours"] = {{0, 1}};
  CHECK(*call.einsum_options(&network).path == LinearPath{{0, 1}});
  call.path = "stored:other";
  CHECK_THROWS_AS(call.einsum_options(&network), Error);
}
