// Views: where a tensor lies. View reads, MutableView reads and writes, UninitView may only be
// written.
//
// Views are small values that own nothing and are never stored beyond a call. Strides count
// elements and are signed; the data pointer is the element whose indices are all 0. Extents and
// strides up to rank 8 need no allocation. Storage that holds no value yet is reachable through
// UninitView alone: it has no conversion to a pointer or a reference; a call that fills it returns
// the MutableView.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "einjit/dtype.h"

namespace einjit {

/// Extents or strides: a short list of integers with room for eight inside.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values)
      : Dims(std::span(values.begin(), values.size())) {}
  template <class Range>
    requires(!std::is_same_v<std::remove_cvref_t<Range>, Dims> &&
             std::is_convertible_v<const Range&, std::span<const std::int64_t>>)
  Dims(const Range& values) : Dims(std::span<const std::int64_t>(values)) {}
  Dims(std::span<const std::int64_t> values) : size_(values.size()) {
    if (size_ > kInside) beyond_ = std::make_unique<std::int64_t[]>(size_);
    std::copy(values.begin(), values.end(), data());
  }
  Dims(const Dims& other) : Dims(other.span()) {}
  Dims(Dims&& other) noexcept = default;
  Dims& operator=(const Dims& other) {
    if (this != &other) *this = Dims(other);
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept = default;

  std::size_t size() const { return size_; }
  std::int64_t* data() { return size_ > kInside ? beyond_.get() : inside_.data(); }
  const std::int64_t* data() const { return size_ > kInside ? beyond_.get() : inside_.data(); }
  std::int64_t operator[](std::size_t i) const { return data()[i]; }
  std::int64_t& operator[](std::size_t i) { return data()[i]; }
  const std::int64_t* begin() const { return data(); }
  const std::int64_t* end() const { return data() + size_; }
  std::span<const std::int64_t> span() const { return {data(), size_}; }
  operator std::span<const std::int64_t>() const { return span(); }
  bool operator==(const Dims& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

  /// Strides of a dense tensor whose last axis is contiguous. Wraps (harmlessly: such a view is
  /// refused later) where the size passes 2^63.
  static Dims row_major(const Dims& extents) {
    Dims strides = extents;
    std::uint64_t step = 1;
    for (std::size_t i = extents.size(); i-- > 0;) {
      strides[i] = static_cast<std::int64_t>(step);
      step *= static_cast<std::uint64_t>(std::max<std::int64_t>(extents[i], 1));
    }
    return strides;
  }

 private:
  static constexpr std::size_t kInside = 8;
  std::size_t size_ = 0;
  std::array<std::int64_t, kInside> inside_{};
  std::unique_ptr<std::int64_t[]> beyond_;
};

/// The bytes that a view may touch. Without bounds ({nullptr, nullptr}) the view vouches for
/// itself.
struct ByteRange {
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
};

template <Element T>
class View {
 public:
  View(const T* data, Dims extents)
      : data_(data), extents_(std::move(extents)), strides_(Dims::row_major(extents_)) {}
  View(const T* data, Dims extents, Dims strides)
      : data_(data), extents_(std::move(extents)), strides_(std::move(strides)) {}
  /// Inside a buffer: the call is refused with out_of_bounds if an index would leave it.
  View(std::span<const T> buffer, std::int64_t offset, Dims extents, Dims strides)
      : data_(buffer.data() + offset),
        extents_(std::move(extents)),
        strides_(std::move(strides)),
        bounds_{reinterpret_cast<const std::byte*>(buffer.data()),
                reinterpret_cast<const std::byte*>(buffer.data() + buffer.size())} {}

  const T* data() const { return data_; }
  const Dims& extents() const { return extents_; }
  const Dims& strides() const { return strides_; }
  ByteRange bounds() const { return bounds_; }
  bool conjugated() const { return conj_; }
  /// The same memory, read as its complex conjugate; nothing is copied. Does nothing to real
  /// elements.
  View conj() const {
    View v = *this;
    v.conj_ = !conj_;
    return v;
  }

 private:
  const T* data_;
  Dims extents_, strides_;
  ByteRange bounds_;
  bool conj_ = false;
};

template <Element T>
class MutableView {
 public:
  MutableView(T* data, Dims extents)
      : data_(data), extents_(std::move(extents)), strides_(Dims::row_major(extents_)) {}
  MutableView(T* data, Dims extents, Dims strides)
      : data_(data), extents_(std::move(extents)), strides_(std::move(strides)) {}
  MutableView(std::span<T> buffer, std::int64_t offset, Dims extents, Dims strides)
      : data_(buffer.data() + offset),
        extents_(std::move(extents)),
        strides_(std::move(strides)),
        bounds_{reinterpret_cast<const std::byte*>(buffer.data()),
                reinterpret_cast<const std::byte*>(buffer.data() + buffer.size())} {}

  T* data() const { return data_; }
  const Dims& extents() const { return extents_; }
  const Dims& strides() const { return strides_; }
  ByteRange bounds() const { return bounds_; }
  operator View<T>() const { return View<T>(data_, extents_, strides_); }

 private:
  T* data_;
  Dims extents_, strides_;
  ByteRange bounds_;
};

/// Storage without a value. Only trivially copyable elements; no way to read it, and no way to its
/// address but through a call that fills it.
template <Element T>
  requires std::is_trivially_copyable_v<T>
class UninitView {
 public:
  UninitView(void* storage, Dims extents)
      : storage_(storage), extents_(std::move(extents)), strides_(Dims::row_major(extents_)) {}
  UninitView(void* storage, Dims extents, Dims strides)
      : storage_(storage), extents_(std::move(extents)), strides_(std::move(strides)) {}
  /// Inside raw storage of `bytes` bytes, `offset` elements from its start.
  UninitView(void* buffer, std::size_t bytes, std::int64_t offset, Dims extents, Dims strides)
      : storage_(static_cast<std::byte*>(buffer) + offset * static_cast<std::int64_t>(sizeof(T))),
        extents_(std::move(extents)),
        strides_(std::move(strides)),
        bounds_{static_cast<const std::byte*>(buffer),
                static_cast<const std::byte*>(buffer) + bytes} {}

  const Dims& extents() const { return extents_; }
  const Dims& strides() const { return strides_; }

 private:
  friend class Destination;
  void* storage_;
  Dims extents_, strides_;
  ByteRange bounds_;
};

/// Any view that is read, its element type erased: what entry points take.
class Operand {
 public:
  template <Element T>
  Operand(const View<T>& v)
      : data(reinterpret_cast<const std::byte*>(v.data())),
        type(dtype_of<T>),
        extents(v.extents()),
        strides(v.strides()),
        bounds(v.bounds()),
        conj(v.conjugated()) {}
  template <Element T>
  Operand(const MutableView<T>& v) : Operand(View<T>(v)) {}
  /// Anything with data(), strides() and extents() or shape(), all strides in elements.
  template <class X>
    requires requires(const X& x) {
      x.data();
      x.strides();
    } && Element<std::remove_pointer_t<decltype(std::declval<const X&>().data())>>
  Operand(const X& x)
      : data(reinterpret_cast<const std::byte*>(x.data())),
        type(dtype_of<std::remove_pointer_t<decltype(x.data())>>),
        extents(dims_of(shape_of(x))),
        strides(dims_of(x.strides())) {}
  Operand(const std::byte* data, DType type, Dims extents, Dims strides, ByteRange bounds = {},
          bool conj = false)
      : data(data),
        type(type),
        extents(std::move(extents)),
        strides(std::move(strides)),
        bounds(bounds),
        conj(conj) {}

  const std::byte* data;
  DType type;
  Dims extents, strides;
  ByteRange bounds;
  bool conj = false;

 private:
  template <class X>
  static decltype(auto) shape_of(const X& x) {
    if constexpr (requires { x.extents(); })
      return x.extents();
    else
      return x.shape();
  }
  template <class R>
  static Dims dims_of(const R& r) {
    if constexpr (std::is_same_v<R, Dims>) {
      return r;
    } else {
      std::vector<std::int64_t> values;
      for (auto v : r) values.push_back(static_cast<std::int64_t>(v));
      return Dims(values);
    }
  }
};

/// Where a result goes, its element type erased. `initialized` false: it may only be written.
class Destination {
 public:
  template <Element T>
  Destination(const MutableView<T>& v)
      : data(reinterpret_cast<std::byte*>(v.data())),
        type(dtype_of<T>),
        extents(v.extents()),
        strides(v.strides()),
        bounds(v.bounds()),
        initialized(true) {}
  template <Element T>
  Destination(const UninitView<T>& v)
      : data(static_cast<std::byte*>(v.storage_)),
        type(dtype_of<T>),
        extents(v.extents_),
        strides(v.strides_),
        bounds(v.bounds_),
        initialized(false) {}
  Destination(std::byte* data, DType type, Dims extents, Dims strides, ByteRange bounds,
              bool initialized)
      : data(data),
        type(type),
        extents(std::move(extents)),
        strides(std::move(strides)),
        bounds(bounds),
        initialized(initialized) {}

  std::byte* data;
  DType type;
  Dims extents, strides;
  ByteRange bounds;
  bool initialized;
};

}  // namespace einjit
