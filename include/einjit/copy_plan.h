// A prepared move of one tensor into another layout: plain, scaled, conjugated, widening.
//
// Prepared once for exactly two layouts. A replay allocates nothing, runs on the calling thread
// alone and makes not one TBB call. The source's axis i becomes the destination's axis i; another
// order of axes is another order of strides. Elements that the destination's strides do not reach
// are not touched.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <optional>

#include "einjit/einsum.h"

namespace einjit {

/// plain: destination = source. scaled: destination = alpha · source. The conj flag of the source's
/// layout conjugates.
enum class CopyKind : std::uint8_t { plain, scaled };

/// Immutable; replays of one CopyPlan may overlap in time. The Engine must outlive it.
class CopyPlan {
 public:
  /// Equal extents on both sides (destination_shape_mismatch; no broadcasting). The destination's
  /// type holds the source's: f32 into f64 or c128, never back (dtype_mismatch). Its layout is
  /// injective (destination_not_injective). Of the context the Engine and the stop token are used,
  /// never its threads.
  static CopyPlan make(const ExecContext& context, const Layout& source, const Layout& destination,
                       CopyKind kind = CopyKind::plain, const EinsumOptions& options = {});

  /// Exactly the prepared types, extents, strides and conj, else invalid_argument naming the axis;
  /// then out_of_bounds and destination_aliases_operand. A refused call writes nothing. alpha is of
  /// the source's type; 0 means that the source is not read and zeros are written. A plain plan
  /// takes alpha = 1 only (invalid_argument).
  void run(const Operand& source, const Destination& destination,
           std::complex<double> alpha = {1, 0}) const;
  template <Element T>
  void run(const Operand& source, const MutableView<T>& destination,
           std::complex<double> alpha = {1, 0}) const {
    run(source, Destination(destination), alpha);
  }
  /// Fills storage that has no value yet and returns the view through which it may be read.
  template <Element T>
  [[nodiscard]] MutableView<T> run(const Operand& source, const UninitView<T>& destination,
                                   std::complex<double> alpha = {1, 0}) const {
    const Destination d(destination);
    run(source, d, alpha);
    return MutableView<T>(reinterpret_cast<T*>(d.data), destination.extents(),
                          destination.strides());
  }

 private:
  explicit CopyPlan(const ExecContext& serial) : serial_(serial) {}
  ExecContext serial_;
  std::array<std::optional<PreparedPlan>, 3> plans_;  // by class of alpha; plain: `one` alone
};

}  // namespace einjit
