// Text of plans, both ways: one line a value, first its name. parse_plan(to_text(p)) == p.
#include <array>

#include "einjit/error.h"
#include "einjit/plan.h"
#include "planner/word_reader.h"

namespace einjit {
namespace {

constexpr std::string_view kPlaces[] = {"operand", "intermediate", "destination"};
constexpr std::string_view kKinds[] = {"contract", "fill", "scale"};
constexpr std::string_view kReasons[] = {"-", "off_diagonal", "empty_sum", "alpha_zero"};
constexpr std::string_view kScalars[] = {"0", "1", "*"};
constexpr std::string_view kRoutines[] = {"gemm", "gemv", "dot"};
constexpr std::string_view kHead = "einjit plan 1";

template <class Names, class E>
std::string_view at(const Names& names, E e) {
  return names[static_cast<std::size_t>(e)];
}

class Writer {
 public:
  Writer& line(std::string_view key) {
    if (!text_.empty()) text_ += '\n';
    text_ += key;
    return *this;
  }
  Writer& put(std::string_view word) {
    text_ += ' ';
    text_ += word;
    return *this;
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  Writer& put(T value) {
    if constexpr (std::is_floating_point_v<T>)
      return put(std::string_view(number_text(value)));
    else
      return put(std::string_view(std::to_string(value)));
  }
  template <class T>
  Writer& list(const std::vector<T>& values) {
    put(values.size());
    for (const T v : values) put(v);
    return *this;
  }
  std::string take() { return std::move(text_) + "\n"; }

 private:
  std::string text_;
};

template <class T>
std::vector<T> read_list(WordReader& reader) {
  std::vector<T> values;
  for (auto n = reader.number<std::uint64_t>(); n > 0; --n) values.push_back(reader.number<T>());
  return values;
}
template <class E, class Names>
E read_name(WordReader& reader, const Names& names) {
  return static_cast<E>(reader.index_of(names, reader.word()));
}

void write_axes(Writer& w, const std::vector<StepAxis>& axes) {
  w.put(axes.size());
  for (const StepAxis& axis : axes) {
    w.put(axis.extent);
    for (const std::int64_t s : axis.strides) w.put(s);
  }
}
std::vector<StepAxis> read_axes(WordReader& reader) {
  std::vector<StepAxis> axes;
  for (auto n = reader.number<std::uint64_t>(); n > 0; --n) {
    StepAxis axis;
    axis.extent = reader.number<std::int64_t>();
    for (std::int64_t& s : axis.strides) s = reader.number<std::int64_t>();
    axes.push_back(axis);
  }
  return axes;
}

void write_step(Writer& w, const Step& s) {
  w.line("step")
      .put(at(kKinds, s.kind))
      .put(at(kReasons, s.reason))
      .put(s.a)
      .put(s.b)
      .put(s.c)
      .put(s.wave);
  w.put(s.flops).put(s.bytes).put(s.predicted_seconds).put(s.backend).put(s.fallbacks.size());
  for (const std::string& f : s.fallbacks) w.put(f);
  if (s.kind != StepKind::contract) return;
  w.line(" kernel").put(to_text(s.kernel));
  w.line(" axes");
  for (const auto& group : s.geometry) write_axes(w, group);
  w.line(" blas");
  if (!s.blas) {
    w.put("-");
    return;
  }
  const BlasForm& f = *s.blas;
  w.put(at(kRoutines, f.routine))
      .put(int{f.swapped})
      .put(std::string(1, f.trans_a))
      .put(std::string(1, f.trans_b));
  for (const std::int64_t v : {f.m, f.n, f.k, f.lda, f.ldb, f.ldc}) w.put(v);
  write_axes(w, f.batch);
}

char read_trans(WordReader& reader) {
  const std::string_view word = reader.word();
  if (word != "N" && word != "T" && word != "C") reader.corrupt(word);
  return word[0];
}

/// The rest of the line by another format's reader; errors name this text's line.
template <class Parse>
auto read_inner(WordReader& reader, Parse parse) {
  const std::string_view text = reader.rest_of_line();
  try {
    return parse(text);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::out_of_memory) throw;
    reader.corrupt(text);
  }
}

Step read_step(WordReader& reader) {
  Step s;
  s.kind = read_name<StepKind>(reader, kKinds);
  s.reason = read_name<FillReason>(reader, kReasons);
  for (std::int32_t* v : {&s.a, &s.b, &s.c, &s.wave}) *v = reader.number<std::int32_t>();
  for (double* v : {&s.flops, &s.bytes, &s.predicted_seconds}) *v = reader.number<double>();
  s.backend = reader.word();
  for (auto n = reader.number<std::uint64_t>(); n > 0; --n) s.fallbacks.emplace_back(reader.word());
  if (s.kind != StepKind::contract) return s;
  const auto next = [&](std::string_view key) {
    if (!reader.next_line()) reader.corrupt("end of text");
    reader.expect("");
    reader.expect(key);
  };
  next("kernel");
  s.kernel = read_inner(reader, parse_kernel_spec);
  next("axes");
  for (auto& group : s.geometry) group = read_axes(reader);
  next("blas");
  const std::string_view routine = reader.word();
  if (routine == "-") return s;
  BlasForm f;
  f.routine = static_cast<BlasForm::Routine>(reader.index_of(kRoutines, routine));
  f.swapped = reader.number<int>() != 0;
  f.trans_a = read_trans(reader);
  f.trans_b = read_trans(reader);
  for (std::int64_t* v : {&f.m, &f.n, &f.k, &f.lda, &f.ldb, &f.ldc})
    *v = reader.number<std::int64_t>();
  f.batch = read_axes(reader);
  s.blas = f;
  return s;
}

}  // namespace

std::string to_text(const Plan& plan) {
  return with_typed_memory_errors([&]() -> std::string {
    Writer w;
    w.line(kHead);
    w.line("operands").put(plan.contraction.axes.size());
    for (std::size_t i = 0; i < plan.contraction.axes.size(); ++i)
      w.line("axes").list(plan.contraction.axes[i]).list(plan.contraction.shapes[i]);
    w.line("output").list(plan.contraction.output);
    w.line("extents").list(plan.contraction.extents);
    w.line("nesting").put(plan.contraction.nesting.groups.size());
    for (const auto& group : plan.contraction.nesting.groups) w.line("group").list(group);
    w.line("tree").put(to_text(plan.tree));
    w.line("result").put(name(plan.result));
    w.line("destination").put(name(plan.destination.type)).put(int{plan.destination.conj});
    w.list(plan.destination.extents).list(plan.destination.strides);
    w.line("scalars").put(at(kScalars, plan.alpha)).put(at(kScalars, plan.beta));
    w.line("tensors").put(plan.tensors.size());
    for (const PlanTensor& t : plan.tensors) {
      w.line("tensor").put(at(kPlaces, t.place)).put(t.operand).put(name(t.type)).put(int{t.conj});
      w.list(t.labels).list(t.strides).put(t.arena_offset).put(t.bytes);
    }
    w.line("steps").put(plan.steps.size());
    for (const Step& s : plan.steps) write_step(w, s);
    w.line("slices").put(plan.slices.size());
    for (const Slice& s : plan.slices) w.put(s.label);
    w.line("memory").put(plan.arena_bytes).put(plan.workspace_bytes);
    w.line("costs").put(plan.costs.flops).put(plan.costs.tc).put(plan.costs.sc).put(plan.costs.rwc);
    w.line("reproducible").put(int{plan.reproducible});
    return w.take();
  });
}

namespace {

void next(WordReader& reader, std::string_view key) {
  if (!reader.next_line()) reader.corrupt("end of text");
  reader.expect(key);
}

void read_contraction(WordReader& reader, Contraction& contraction) {
  next(reader, "operands");
  for (auto n = reader.number<std::uint64_t>(); n > 0; --n) {
    next(reader, "axes");
    contraction.axes.push_back(read_list<LabelId>(reader));
    contraction.shapes.push_back(read_list<std::int64_t>(reader));
  }
  next(reader, "output");
  contraction.output = read_list<LabelId>(reader);
  next(reader, "extents");
  contraction.extents = read_list<std::int64_t>(reader);
  next(reader, "nesting");
  for (auto n = reader.number<std::uint64_t>(); n > 0; --n) {
    next(reader, "group");
    contraction.nesting.groups.push_back(read_list<std::int32_t>(reader));
  }
}

PlanTensor read_tensor(WordReader& reader) {
  PlanTensor t;
  t.place = read_name<Place>(reader, kPlaces);
  t.operand = reader.number<std::int32_t>();
  t.type = read_name<DType>(reader, kDTypeNames);
  t.conj = reader.number<int>() != 0;
  t.labels = read_list<LabelId>(reader);
  t.strides = read_list<std::int64_t>(reader);
  t.arena_offset = reader.number<std::int64_t>();
  t.bytes = reader.number<std::int64_t>();
  return t;
}

void read_call(WordReader& reader, Plan& plan) {
  next(reader, "tree");
  plan.tree = read_inner(reader, parse_tree);
  next(reader, "result");
  plan.result = read_name<DType>(reader, kDTypeNames);
  next(reader, "destination");
  plan.destination.type = read_name<DType>(reader, kDTypeNames);
  plan.destination.conj = reader.number<int>() != 0;
  plan.destination.extents = read_list<std::int64_t>(reader);
  plan.destination.strides = read_list<std::int64_t>(reader);
  next(reader, "scalars");
  plan.alpha = read_name<ScalarClass>(reader, kScalars);
  plan.beta = read_name<ScalarClass>(reader, kScalars);
}

}  // namespace

Plan parse_plan(std::string_view text) {
  return with_typed_memory_errors([&]() -> Plan {
    WordReader reader("plan", text);
    Plan plan;
    if (!reader.next_line() || reader.rest_of_line() != kHead) reader.corrupt(text.substr(0, 20));
    read_contraction(reader, plan.contraction);
    read_call(reader, plan);
    next(reader, "tensors");
    for (auto n = reader.number<std::uint64_t>(); n > 0; --n) {
      next(reader, "tensor");
      plan.tensors.push_back(read_tensor(reader));
    }
    next(reader, "steps");
    for (auto n = reader.number<std::uint64_t>(); n > 0; --n) {
      next(reader, "step");
      plan.steps.push_back(read_step(reader));
    }
    next(reader, "slices");
    for (const LabelId l : read_list<LabelId>(reader)) plan.slices.push_back({l});
    next(reader, "memory");
    plan.arena_bytes = reader.number<std::int64_t>();
    plan.workspace_bytes = reader.number<std::int64_t>();
    next(reader, "costs");
    for (double* v : {&plan.costs.flops, &plan.costs.tc, &plan.costs.sc, &plan.costs.rwc})
      *v = reader.number<double>();
    next(reader, "reproducible");
    plan.reproducible = reader.number<int>() != 0;
    if (reader.next_line()) reader.corrupt(reader.rest_of_line());
    return plan;
  });
}

}  // namespace einjit
