// The backend "blas": Step.blas as calls of gemm, gemv or dot, cut into fixed tiles.
//
// Tiles are fixed by the step alone: batches in groups where one product is small, blocks of rows
// and columns of C where it is large. So the bits depend neither on threads nor on a clock. Nothing
// reaches the library that it would refuse: OpenBLAS prints a message and leaves C as it was, so
// every size and leading dimension is checked at prepare, and a wrong one is a fault of the
// planner's. Where only gemm is there, gemv and dot are gemm with one row or column.
#include <algorithm>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

#include "einjit/error.h"

#include "runtime/backends.h"
#include "runtime/blas_library.h"

namespace einjit {
namespace {

// Work of a tile, in multiply-adds of f64: 2^27 take 5 ms with OpenBLAS's AVX-512 kernels and 30 ms
// with its SSE3 ones, under the 50 ms after which a stop request must be seen; smaller ones pack
// more often.
constexpr double kGemmTileWork = 1 << 27;
constexpr double kGemvTileWork = 1 << 22;  // memory-bound: 32 MiB of f64, about 3 ms
constexpr double kGroupWork = 1 << 23;     // of small products run one after the other
constexpr double kCallWork = 1 << 12;      // what a call costs beside its products
constexpr std::int64_t kTileMultiple =
    64;  // rows and columns of C: whole micro-tiles of any kernel

/// Work of one multiply-add against f64's.
double work_of(DType type) { return (is_double(type) ? 1 : 0.5) * (is_complex(type) ? 4 : 1); }

void check(bool holds, const BlasForm& form, const std::string& law) {
  if (holds) return;
  constexpr const char* kRoutines[] = {"gemm", "gemv", "dot"};
  throw std::logic_error(std::string("blas: ") + kRoutines[static_cast<std::size_t>(form.routine)] +
                         " " + form.trans_a + form.trans_b + " m=" + std::to_string(form.m) +
                         " n=" + std::to_string(form.n) + " k=" + std::to_string(form.k) +
                         " lda=" + std::to_string(form.lda) + " ldb=" + std::to_string(form.ldb) +
                         " ldc=" + std::to_string(form.ldc) + " breaks the law " + law);
}

/// All that the library demands of its integers; what it would print about instead of computing.
void preflight(const BlasForm& form, DType type, std::int64_t largest) {
  using Routine = BlasForm::Routine;
  for (const std::int64_t v : {form.m, form.n, form.k, form.lda, form.ldb, form.ldc})
    check(v >= 1 && v <= largest, form, "1 <= every integer <= " + std::to_string(largest));
  for (const char trans : {form.trans_a, form.trans_b})
    check(trans == 'N' || trans == 'T' || trans == 'C', form, "trans is N, T or C");
  for (const StepAxis& axis : form.batch) check(axis.extent >= 1, form, "batch extents >= 1");
  if (form.routine == Routine::dot) {
    check(!is_complex(type), form, "dot is real");
    return;
  }
  check(form.lda >= (form.trans_a == 'N' ? form.m : form.k), form, "lda >= rows of a");
  if (form.routine == Routine::gemv) return;
  check(form.ldb >= (form.trans_b == 'N' ? form.k : form.n), form, "ldb >= rows of b");
  check(form.ldc >= form.m, form, "ldc >= m");
}

/// One dimension of C in blocks: all of `width` but the last.
struct Blocks {
  std::int64_t extent = 1, width = 1;
  std::int64_t count() const { return (extent + width - 1) / width; }
  std::int64_t length(std::int64_t i) const { return std::min(width, extent - i * width); }
};

/// Blocks of a multiple of kTileMultiple so that one costs at most `most`, where `work` is a
/// unit's.
Blocks blocks_of(std::int64_t extent, double work, double most) {
  constexpr double kMost = 1 << 30;
  const double units = std::min(most / work / kTileMultiple, kMost);
  const auto width = std::max<std::int64_t>(1, static_cast<std::int64_t>(units)) * kTileMultiple;
  return {extent, std::min(extent, width)};
}

/// The same product by gemm. A vector is a matrix of one row, its stride the leading dimension, so
/// that y is a column where it is dense and a row (of the transposed product) elsewhere. Nothing
/// where that would need a conjugated matrix that is not transposed.
std::optional<BlasForm> as_gemm(BlasForm form) {
  using Routine = BlasForm::Routine;
  const Routine routine = std::exchange(form.routine, Routine::gemm);
  if (routine == Routine::dot) {
    form.trans_a = 'N';
    form.trans_b = 'T';
    form.m = form.n = form.ldc = 1;
  } else if (routine == Routine::gemv && form.ldc == 1) {
    form.trans_b = 'T';
    form.n = 1;
    form.ldc = form.m;
  } else if (routine == Routine::gemv) {
    if (form.trans_a == 'C') return std::nullopt;
    form.swapped = !form.swapped;
    form.trans_b = form.trans_a == 'N' ? 'T' : 'N';
    form.trans_a = 'N';
    form.n = std::exchange(form.m, 1);
    std::swap(form.lda, form.ldb);
  }
  return form;
}

/// The form by the routines that are there. Throws unsupported where there are none for this step.
BlasForm form_for(const BlasLibrary& library, const BlasForm& form, DType type) {
  const BlasRoutines& routines = library.routines();
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::unsupported, "'" + library.name() + "' has no " + what);
  };
  if (form.routine == BlasForm::Routine::gemv && routines.has(routines.gemv, type)) return form;
  if (form.routine == BlasForm::Routine::dot && routines.has(routines.dot, type)) return form;
  if (!routines.has(routines.gemm, type)) refuse(routine_name(type, "gemm"));
  const std::optional<BlasForm> gemm = as_gemm(form);
  if (!gemm) refuse(routine_name(type, "gemv") + ", and gemm conjugates no matrix in place");
  return *gemm;
}

class BlasStep final : public PreparedStep {
 public:
  BlasStep(std::shared_ptr<const BlasLibrary> library, const Step& step)
      : library_(std::move(library)),
        form_(form_for(*library_, *step.blas, step.kernel.compute)),
        type_(step.kernel.compute),
        element_(static_cast<std::int64_t>(size_bytes(type_))),
        alpha_(step.kernel.alpha),
        beta_(step.kernel.beta) {
    preflight(form_, type_, library_->routines().largest());
    for (const StepAxis& axis : form_.batch) batches_ *= axis.extent;
    choose_tiles();
  }
  std::string_view backend() const override { return "blas"; }
  std::int64_t tiles() const override {
    const std::int64_t groups = (batches_ + group_ - 1) / group_;
    return groups * rows_.count() * columns_.count();
  }

  void run(const StepPointers& pointers, std::int64_t tile) const noexcept override {
    const std::int64_t row = tile % rows_.count();
    const std::int64_t column = tile / rows_.count() % columns_.count();
    const std::int64_t first = tile / (rows_.count() * columns_.count()) * group_;
    const std::int64_t last = std::min(first + group_, batches_);
    const BlasLibrary::Call calls(*library_);
    for (std::int64_t batch = first; batch < last; ++batch) {
      Call call = call_of(pointers, batch);
      cut(call, row, column);
      switch (type_) {
        case DType::f32:
          make<float, 1>(call, pointers);
          break;
        case DType::f64:
          make<double, 1>(call, pointers);
          break;
        case DType::c64:
          make<float, 2>(call, pointers);
          break;
        case DType::c128:
          make<double, 2>(call, pointers);
          break;
      }
    }
  }

 private:
  struct Call {
    const std::byte *a, *b;
    std::byte* c;
    std::int64_t m, n;
  };

  void choose_tiles() {
    const double unit = work_of(type_), k = static_cast<double>(form_.k);
    const double m = static_cast<double>(form_.m), n = static_cast<double>(form_.n);
    rows_ = {form_.m, form_.m};
    columns_ = {form_.n, form_.n};
    if (form_.routine == BlasForm::Routine::gemm) {
      columns_ = blocks_of(form_.n, unit * m * k, kGemmTileWork);
      rows_ = blocks_of(form_.m, unit * static_cast<double>(columns_.width) * k, kGemmTileWork);
    } else if (form_.routine == BlasForm::Routine::gemv) {
      rows_ = blocks_of(form_.m, unit * k, kGemvTileWork);
    }
    if (rows_.count() * columns_.count() == 1) {
      const double fitting = kGroupWork / (unit * m * n * k + kCallWork);
      group_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(fitting), 1, batches_);
    }
  }

  /// The operands of one batch, in the order of the column-major problem.
  Call call_of(const StepPointers& pointers, std::int64_t batch) const {
    std::array<std::int64_t, 3> offset{};
    for (std::size_t i = form_.batch.size(); i-- > 0 && batch > 0;) {
      const StepAxis& axis = form_.batch[i];
      for (std::size_t t = 0; t < 3; ++t)
        offset[t] += batch % axis.extent * axis.strides[t] * element_;
      batch /= axis.extent;
    }
    Call call{pointers.a + offset[kA], pointers.b + offset[kB], pointers.c + offset[kC], form_.m,
              form_.n};
    if (form_.swapped) std::swap(call.a, call.b);
    return call;
  }

  /// Narrows a call to one block of rows and one of columns of C.
  void cut(Call& call, std::int64_t row, std::int64_t column) const {
    const std::int64_t i = row * rows_.width, j = column * columns_.width;
    const bool gemm = form_.routine == BlasForm::Routine::gemm;
    call.m = rows_.length(row);
    call.n = columns_.length(column);
    call.a += i * (form_.trans_a == 'N' ? 1 : form_.lda) * element_;
    call.c += i * (gemm ? 1 : form_.ldc) * element_;
    if (!gemm) return;
    call.b += j * (form_.trans_b == 'N' ? form_.ldb : 1) * element_;
    call.c += j * form_.ldc * element_;
  }

  template <class R, int parts>
  void make(const Call& call, const StepPointers& pointers) const {
    R alpha[2] = {1, 0}, beta[2] = {beta_ == BetaClass::one ? R(1) : R(0), 0};
    for (int i = 0; i < parts; ++i) {
      if (alpha_ == AlphaClass::general) alpha[i] = static_cast<R>(pointers.alpha[i]);
      if (beta_ == BetaClass::general) beta[i] = static_cast<R>(pointers.beta[i]);
    }
    const BlasRoutines& routines = library_->routines();
    switch (form_.routine) {
      case BlasForm::Routine::gemm:
        return routines.call_gemm(
            type_, {form_.trans_a, form_.trans_b, call.m, call.n, form_.k, alpha, call.a, form_.lda,
                    call.b, form_.ldb, beta, call.c, form_.ldc});
      case BlasForm::Routine::gemv: {
        const bool plain = form_.trans_a == 'N';
        return routines.call_gemv(
            type_, {form_.trans_a, 'N', plain ? call.m : form_.k, plain ? form_.k : call.m, 1,
                    alpha, call.a, form_.lda, call.b, form_.ldb, beta, call.c, form_.ldc});
      }
      case BlasForm::Routine::dot:
        if constexpr (parts == 1)
          store_dot(routines.call_dot(form_.k, reinterpret_cast<const R*>(call.a), form_.lda,
                                      reinterpret_cast<const R*>(call.b), form_.ldb),
                    alpha[0], beta[0], call.c);
        return;
    }
  }

  template <class R>
  void store_dot(R sum, R alpha, R beta, std::byte* c) const {
    R& result = *reinterpret_cast<R*>(c);
    if (alpha_ == AlphaClass::general) sum *= alpha;
    result = beta_ == BetaClass::zero ? sum : sum + beta * result;
  }

  std::shared_ptr<const BlasLibrary> library_;
  BlasForm form_;
  DType type_;
  std::int64_t element_;
  AlphaClass alpha_;
  BetaClass beta_;
  std::int64_t batches_ = 1, group_ = 1;
  Blocks rows_, columns_;
};

class BlasBackend final : public Backend {
 public:
  explicit BlasBackend(BlasAddress address) : address_(std::move(address)) {
    if (address_.path.empty()) address_.path = kDebianOpenBlas;
  }
  explicit BlasBackend(std::shared_ptr<const BlasLibrary> library)
      : ignores_old_content_(library->ignores_old_content()), library_(std::move(library)) {}
  std::string_view name() const override { return "blas"; }
  /// The first is a shared library's by the self-test, a registered one's by its word; gemm scales
  /// C before it adds.
  Capabilities capabilities() const override {
    return {.ignores_old_content = ignores_old_content_, .keeps_unwritten = false};
  }
  std::unique_ptr<PreparedStep> prepare(const Plan& plan, const Step& step) override {
    if (step.kind != StepKind::contract || !step.blas) return nullptr;
    for (const std::int32_t t : {step.a, step.b, step.c})
      if (const DType type = plan.tensors.at(static_cast<std::size_t>(t)).type;
          type != step.kernel.compute)
        throw std::logic_error("blas: a tensor of " + std::string(einjit::name(type)) +
                               " in a step of " + std::string(einjit::name(step.kernel.compute)));
    return std::make_unique<BlasStep>(library(), step);
  }

 private:
  std::shared_ptr<const BlasLibrary> library() {
    const std::lock_guard lock(opening_);
    if (!library_) library_ = BlasLibrary::open(address_);
    return library_;
  }

  BlasAddress address_;
  bool ignores_old_content_ = true;
  std::mutex opening_;
  std::shared_ptr<const BlasLibrary> library_;
};

}  // namespace

std::unique_ptr<Backend> make_blas_backend(const BlasAddress& address) {
  return std::make_unique<BlasBackend>(address);
}
std::unique_ptr<Backend> make_blas_backend(std::shared_ptr<const BlasLibrary> library) {
  return std::make_unique<BlasBackend>(std::move(library));
}

}  // namespace einjit
