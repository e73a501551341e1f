// Compiled kernels against the interpreter of kernel_spec.h, bit for bit: random specs, every
// lowering, two targets, buffers between pages that nobody may touch.
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>

#include "einjit/error.h"
#include "interpreter.h"
#include "jit/compiler.h"

using namespace einjit;

namespace {

jit::Compiler& compiler() {
  static const std::unique_ptr<jit::Compiler> c = jit::open_compiler();
  return *c;
}

int repetitions() {
  return std::getenv("EINJIT_SHORT") && *std::getenv("EINJIT_SHORT") == '0' ? 4000 : 300;
}

/// A random step: its spec, its argument block, and the buffers and tables the block points into.
struct Problem {
  KernelSpec spec;
  KernelArgs args;
  std::vector<std::vector<std::int64_t>> tables;
  std::array<std::vector<std::byte>, 3> buffers;
  std::array<std::int64_t, 3> low{}, high{};  // byte offsets reached
};

StrideClass class_of(std::int64_t stride_bytes, DType type) {
  return stride_bytes == 0                                             ? StrideClass::zero
         : stride_bytes == static_cast<std::int64_t>(size_bytes(type)) ? StrideClass::unit
                                                                       : StrideClass::runtime;
}

/// A dense walk of c: axes get strides one after another in a random order, so that c is injective.
Problem random_problem(std::mt19937& random) {
  Problem p;
  KernelSpec& s = p.spec;
  const auto pick = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  s.compute = kDTypes[pick(4)];
  s.types[kC] = s.compute;
  s.unary = pick(3) == 0;
  for (int t : {kA, kB}) {
    do s.types[static_cast<std::size_t>(t)] = pick(3) ? s.compute : kDTypes[pick(4)];
    while (!holds(s.compute, s.types[static_cast<std::size_t>(t)]));
    s.conj[static_cast<std::size_t>(t)] =
        is_complex(s.types[static_cast<std::size_t>(t)]) && pick(3) == 0;
  }
  if (s.unary) s.types[kB] = s.compute, s.conj[1] = false;
  if (pick(8) == 0) {  // copies may widen
    const DType wider = kDTypes[pick(4)];
    if (holds(wider, s.compute)) s.types[kC] = wider;
  }
  s.alpha = pick(2) ? AlphaClass::one : AlphaClass::general;
  s.beta = s.types[kC] == s.compute ? static_cast<BetaClass>(pick(3)) : BetaClass::zero;
  p.args.alpha = {1.25, is_complex(s.compute) ? -0.75 : 0};
  p.args.beta = {-0.5, is_complex(s.compute) ? 0.375 : 0};

  struct Axis {
    AxisGroup group;
    int level;
    std::int64_t extent;
  };
  std::vector<Axis> axes;
  for (const AxisGroup g : kAxisGroups) {
    if (pick(3) == 0 || (s.unary && (g == AxisGroup::batch || g == AxisGroup::right))) continue;
    GroupSpec& group = s.group(g);
    group.present = true;
    group.tabled = pick(3) == 0;
    const bool summed = g == AxisGroup::contracted;
    const std::int64_t inner =
        pick(8) == 0 ? (summed ? 1 + pick(1200) : 1 + pick(70)) : 1 + pick(summed ? 40 : 14);
    if (pick(4) == 0) group.extent = inner;
    axes.push_back({g, 2, inner});
    if (group.tabled) {
      axes.push_back({g, 1, 1 + pick(4)});
      axes.push_back({g, 0, 1 + pick(summed ? 6 : 3)});
    }
  }
  std::shuffle(axes.begin(), axes.end(), random);
  std::array<std::int64_t, 3> step{};
  for (std::size_t t = 0; t < 3; ++t)
    step[t] = static_cast<std::int64_t>(size_bytes(s.types[t])) * (1 + (pick(4) == 0));
  for (const Axis& axis : axes) {
    GroupArgs& group = p.args.groups[static_cast<std::size_t>(axis.group)];
    std::array<std::int64_t, 3> stride{};
    for (std::size_t t = 0; t < 3; ++t) {
      const bool has = axis.group == AxisGroup::batch ||
                       (axis.group == AxisGroup::left && t != 1) ||
                       (axis.group == AxisGroup::right && t != 0) ||
                       (axis.group == AxisGroup::contracted && t != 2);
      if (!has || (t == 1 && s.unary)) continue;
      if (t != kC && pick(9) == 0) continue;  // a repeated operand
      stride[t] = pick(6) == 0 ? -step[t] : step[t];
      const std::int64_t reach = stride[t] * (axis.extent - 1);
      (reach < 0 ? p.low : p.high)[t] += reach;
      step[t] = step[t] * axis.extent +
                (pick(5) == 0 ? static_cast<std::int64_t>(size_bytes(s.types[t])) : 0);
    }
    if (axis.level == 2) {
      group.inner = axis.extent;
      group.stride = stride;
      for (std::size_t t = 0; t < 3; ++t)
        s.group(axis.group).strides[t] = class_of(stride[t], s.types[t]);
    } else {
      std::vector<std::int64_t> table;
      for (std::int64_t i = 0; i < axis.extent; ++i)
        for (std::size_t t = 0; t < 3; ++t) table.push_back(i * stride[t]);
      p.tables.push_back(std::move(table));
      (axis.level == 0 ? group.outer : group.middle) = axis.extent;
      (axis.level == 0 ? group.outer_table : group.middle_table) = p.tables.back().data();
    }
  }
  const bool matrix = s.group(AxisGroup::left).present && s.group(AxisGroup::right).present;
  s.sum_order = sum_order_for(s.compute, matrix, p.args.groups[3].inner);
  if (!s.group(AxisGroup::contracted).present) s.sum_order = {};
  const bool tiny = pick(5) == 0;  // products underflow: signs of zeros, denormal numbers
  for (std::size_t t = 0; t < 3; ++t) {
    const auto size = static_cast<std::size_t>(p.high[t] - p.low[t]) + size_bytes(s.types[t]);
    std::vector<std::byte>& buffer = p.buffers[t];
    buffer.resize(size);
    const auto fill = [&](auto* values, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i)
        values[i] = std::uniform_real_distribution<double>(-1, 1)(random) * (!tiny ? 1
                                                                             : sizeof(*values) == 8
                                                                                 ? 3e-162
                                                                                 : 2e-23);
    };
    if (is_double(s.types[t]))
      fill(reinterpret_cast<double*>(buffer.data()), size / 8);
    else
      fill(reinterpret_cast<float*>(buffer.data()), size / 4);
    if (t == kC && s.beta == BetaClass::zero)
      std::fill(buffer.begin(), buffer.end(), std::byte{0xFF});  // NaN
  }
  return p;
}

/// A copy of some bytes that ends (or begins) where a page begins (or ends) that nobody may touch.
class Guarded {
 public:
  Guarded(const std::vector<std::byte>& bytes, bool at_end) : size_(bytes.size()) {
    room_ = (bytes.size() + kPage - 1) / kPage * kPage;
    map_ = static_cast<std::byte*>(
        mmap(nullptr, room_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(map_ != MAP_FAILED);
    REQUIRE(mprotect(map_ + kPage, room_, PROT_READ | PROT_WRITE) == 0);
    data_ = map_ + kPage + (at_end ? room_ - size_ : 0);
    std::copy(bytes.begin(), bytes.end(), data_);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(map_, room_ + 2 * kPage); }
  std::byte* data() { return data_; }
  std::vector<std::byte> bytes() const { return {data_, data_ + size_}; }

 private:
  static constexpr std::size_t kPage = 4096;
  std::size_t size_, room_ = 0;
  std::byte *map_ = nullptr, *data_ = nullptr;
};

/// What the destination's bytes are after the kernel; operands must be what they were.
std::vector<std::byte> run(const Problem& p, bool at_end,
                           const std::function<void(const KernelArgs&)>& kernel) {
  Guarded a(p.buffers[kA], at_end), b(p.buffers[kB], at_end), c(p.buffers[kC], at_end);
  KernelArgs args = p.args;
  args.a = a.data() - p.low[kA];
  args.b = p.spec.unary ? nullptr : b.data() - p.low[kB];
  args.c = c.data() - p.low[kC];
  kernel(args);
  REQUIRE(a.bytes() == p.buffers[kA]);
  REQUIRE(b.bytes() == p.buffers[kB]);
  return c.bytes();
}

}  // namespace

TEST_CASE("every lowering equals the definition, bit for bit, and stays inside its axes") {
  std::mt19937 random(1);
  const std::string host(jit::host_cpu_name());
  for (int i = 0; i < repetitions(); ++i) {
    Problem p = random_problem(random);
    const bool at_end = random() % 2 == 0;
    const auto right =
        run(p, at_end, [&](const KernelArgs& args) { testing::interpret(p.spec, args); });
    std::vector<std::string> lowerings{""};
    for (const std::string_view name : jit::lowering_names()) lowerings.emplace_back(name);
    for (std::size_t l = 0; l < lowerings.size(); ++l) {
      p.spec.lowering = lowerings[l];
      const jit::Target target =
          jit::target_named((static_cast<std::size_t>(i) + l) % 3 == 0 ? "haswell" : host);
      CAPTURE(i);
      CAPTURE(to_text(p.spec));
      CAPTURE(jit::loop_nest_text(p.spec, target));
      CAPTURE(target.cpu);
      const auto code = compiler().load(compiler().compile_object(p.spec, target));
      const auto found = run(p, at_end, [&](const KernelArgs& args) { code->entry()(&args); });
      REQUIRE(found == right);
    }
  }
}
