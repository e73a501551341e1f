// The four numbers with which every replayer ends.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace einjit {

enum class Outcome : std::uint8_t { passed, expected_error, unsupported, failed };

/// What came of one record; the sentence says what was expected and found where it did not pass.
struct Verdict {
  Outcome outcome = Outcome::passed;
  std::string sentence;
};

struct Tally {
  std::int64_t passed = 0, expected_errors = 0, unsupported = 0, failed = 0;

  void add(Outcome outcome) {
    switch (outcome) {
      case Outcome::passed:
        ++passed;
        break;
      case Outcome::expected_error:
        ++expected_errors;
        break;
      case Outcome::unsupported:
        ++unsupported;
        break;
      case Outcome::failed:
        ++failed;
        break;
    }
  }
  void add(const Tally& other) {
    passed += other.passed;
    expected_errors += other.expected_errors;
    unsupported += other.unsupported;
    failed += other.failed;
  }
  bool clean() const { return unsupported == 0 && failed == 0; }
  void print() const {
    std::printf("passed %lld, expected errors %lld, unsupported %lld, failed %lld\n",
                static_cast<long long>(passed), static_cast<long long>(expected_errors),
                static_cast<long long>(unsupported), static_cast<long long>(failed));
  }
};

}  // namespace einjit
