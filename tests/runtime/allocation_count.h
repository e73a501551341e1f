// How often this program has called operator new: counted in prepared_plan_test.cc.
#pragma once

#include <atomic>
#include <cstdint>

namespace einjit::testing {

extern std::atomic<std::int64_t> allocations;

}  // namespace einjit::testing
