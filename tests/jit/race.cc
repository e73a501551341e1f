// race: two threads run one compiled kernel; built with ThreadSanitizer only.
//
// `race body` and `race edge` write the same destination, in whole vectors and in the ragged last
// one: ThreadSanitizer must say so. `race none` gives each thread a destination of its own: it must
// not.
#include <cstdio>
#include <string_view>
#include <thread>
#include <vector>

#include "einjit/error.h"
#include "jit/compiler.h"

using namespace einjit;

namespace {

constexpr std::string_view kProduct =
    "f64 a:f64 b:f64 c:f64 left{*:r0r} right{*:0uu} contracted{*:ur0} alpha=1 beta=0 sum=256/1";

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  // 192 is a whole number of tiles for every vector width; 5 elements fill no vector.
  const std::int64_t rows = 8, inner = 8, columns = what == "edge" ? 5 : 192;
  const jit::Target target = jit::target_named(jit::host_cpu_name());
  const KernelSpec spec = parse_kernel_spec(kProduct);
  const auto compiler = jit::open_compiler();
  const auto code = compiler->load(compiler->compile_object(spec, target));
  const std::vector<double> a(static_cast<std::size_t>(rows * inner), 1);
  const std::vector<double> b(static_cast<std::size_t>(inner * columns), 1);
  std::vector<double> first(static_cast<std::size_t>(rows * columns));
  std::vector<double> second(first.size());
  const auto run = [&](std::vector<double>& c) {
    KernelArgs args;
    args.a = reinterpret_cast<const std::byte*>(a.data());
    args.b = reinterpret_cast<const std::byte*>(b.data());
    args.c = reinterpret_cast<std::byte*>(c.data());
    args.groups[1].inner = rows;
    args.groups[1].stride = {8 * inner, 0, 8 * columns};
    args.groups[2].inner = columns;
    args.groups[2].stride = {0, 8, 8};
    args.groups[3].inner = inner;
    args.groups[3].stride = {8, 8 * columns, 0};
    code->entry()(&args);
  };
  std::thread one(run, std::ref(first));
  std::thread other(run, std::ref(what == "none" ? second : first));
  one.join();
  other.join();
  for (const double x : first)
    if (x != static_cast<double>(inner)) return 2;
  std::printf("%s; %s\n", std::string(what).c_str(), jit::loop_nest_text(spec, target).c_str());
  return 0;
}
