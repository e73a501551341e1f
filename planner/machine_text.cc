// Text of a Machine: one "key value" a line.
#include "einjit/machine.h"

#include "einjit/error.h"
#include "planner/word_reader.h"

namespace einjit {
namespace {

/// Visits every field by its name; one list serves writing and reading.
template <class M, class F>
void fields(M& m, F&& f) {
  f("target_cpu", m.target_cpu);
  f("vector_bytes", m.vector_bytes);
  f("blas_available", m.blas_available);
  f("blas_name", m.blas_name);
  f("jit_flops_per_second", m.jit_flops_per_second);
  f("blas_flops_per_second", m.blas_flops_per_second);
  f("memory_bytes_per_second", m.memory_bytes_per_second);
  f("step_seconds", m.step_seconds);
  f("blas_call_seconds", m.blas_call_seconds);
  f("l1_bytes", m.l1_bytes);
  f("l2_bytes", m.l2_bytes);
}

std::string shown(const std::string& v) { return v; }
std::string shown(bool v) { return v ? "1" : "0"; }
std::string shown(double v) { return number_text(v); }
template <class T>
std::string shown(T v) {
  return std::to_string(v);
}

void read(WordReader& reader, std::string& v) { v = reader.rest_of_line(); }
void read(WordReader& reader, bool& v) { v = reader.number<int>() != 0; }
template <class T>
void read(WordReader& reader, T& v) {
  v = reader.number<T>();
}

}  // namespace

std::string to_text(const Machine& machine) {
  return with_typed_memory_errors([&]() -> std::string {
    std::string text;
    fields(machine, [&](std::string_view key, const auto& value) {
      text += std::string(key) + " " + shown(value) + "\n";
    });
    return text;
  });
}

Machine parse_machine(std::string_view text) {
  return with_typed_memory_errors([&]() -> Machine {
    WordReader reader("machine", text);
    Machine machine;
    fields(machine, [&](std::string_view key, auto& value) {
      if (!reader.next_line()) reader.corrupt("end of text");
      reader.expect(key);
      read(reader, value);
    });
    if (reader.next_line()) reader.corrupt(reader.rest_of_line());
    return machine;
  });
}

}  // namespace einjit
