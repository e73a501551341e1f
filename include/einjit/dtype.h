// Element types: the four that tensors hold, and the smallest type that holds two of them.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace einjit {

enum class DType : std::uint8_t { f32, f64, c64, c128 };

using c64 = std::complex<float>;    // two f32
using c128 = std::complex<double>;  // two f64

inline constexpr DType kDTypes[] = {DType::f32, DType::f64, DType::c64, DType::c128};
inline constexpr std::string_view kDTypeNames[] = {"f32", "f64", "c64", "c128"};

constexpr std::string_view name(DType t) { return kDTypeNames[static_cast<std::size_t>(t)]; }

constexpr std::optional<DType> dtype_named(std::string_view text) {
  for (DType t : kDTypes)
    if (name(t) == text) return t;
  return std::nullopt;
}

constexpr bool is_complex(DType t) { return t == DType::c64 || t == DType::c128; }
constexpr bool is_double(DType t) { return t == DType::f64 || t == DType::c128; }
constexpr std::size_t size_bytes(DType t) {
  return (is_double(t) ? 8u : 4u) * (is_complex(t) ? 2u : 1u);
}

constexpr DType make_dtype(bool complex, bool dbl) {
  return complex ? (dbl ? DType::c128 : DType::c64) : (dbl ? DType::f64 : DType::f32);
}
/// The real type of the same precision.
constexpr DType real_of(DType t) { return make_dtype(false, is_double(t)); }
/// The smallest type that holds both: f32 with c128 is c128, f64 with c64 is c128.
constexpr DType promote(DType a, DType b) {
  return make_dtype(is_complex(a) || is_complex(b), is_double(a) || is_double(b));
}
/// Every value of `from` is a value of `to`.
constexpr bool holds(DType to, DType from) { return promote(to, from) == to; }

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<c64> {
  static constexpr DType value = DType::c64;
};
template <>
struct DTypeOf<c128> {
  static constexpr DType value = DType::c128;
};

template <class T>
inline constexpr DType dtype_of = DTypeOf<std::remove_cv_t<T>>::value;

/// One of the four element types.
template <class T>
concept Element = requires { DTypeOf<std::remove_cv_t<T>>::value; };

}  // namespace einjit
