// Elementwise loops of the reference kernels. The half types are computed in float and rounded
// once; integers are computed in their own type.
#ifndef KHEYA_KERNELS_REFERENCE_ELEMENTWISE_H_
#define KHEYA_KERNELS_REFERENCE_ELEMENTWISE_H_

#include <cstdint>
#include <type_traits>

#include "base/status.h"
#include "kernels/reference/broadcast.h"
#include "kernels/reference/numeric_dispatch.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// What elements of type T are computed in.
template <typename T>
using ComputeType = std::conditional_t<kIsHalf<T>, float, T>;

// Calls function(T{}) for the float types, halves included; Unimplemented for others.
template <typename Function>
Status CallWithRealType(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::kFloat32:
      function(float{});
      return OkStatus();
    case DType::kFloat64:
      function(double{});
      return OkStatus();
    case DType::kFloat16:
      function(Float16{});
      return OkStatus();
    case DType::kBFloat16:
      function(BFloat16{});
      return OkStatus();
    default:
      return UnimplementedError("found element type {}, supported are float types",
                                DTypeName(dtype));
  }
}

// y[i] = function(x[i]); function takes ComputeType<T>. y may be x.
template <typename T, typename R, typename Function>
void MapElements(const TensorView& x, const MutableTensorView& y, Function function) {
  const auto from = x.as<T>();
  const auto to = y.as<R>();
  for (size_t i = 0; i < from.size(); ++i) {
    to[i] = static_cast<R>(function(static_cast<ComputeType<T>>(from[i])));
  }
}

// y = function(x) of the same float type and shape.
template <typename Function>
Status MapReal(const TensorView& x, const MutableTensorView& y, Function function) {
  return CallWithRealType(x.dtype,
                          [&]<typename T>(const T&) { MapElements<T, T>(x, y, function); });
}

// The same for any numeric type.
template <typename Function>
Status MapNumeric(const TensorView& x, const MutableTensorView& y, Function function) {
  return CallWithNumericType(x.dtype,
                             [&]<typename T>(const T&) { MapElements<T, T>(x, y, function); });
}

// out = function(a, b) with both broadcast to out's shape. out may be an operand of its shape.
template <typename A, typename B, typename R, typename Function>
void CombineElements(const TensorView& a, const TensorView& b, const MutableTensorView& out,
                     Function function) {
  const Broadcast loop(out.shape, {&a.shape, &b.shape});
  const A* first = static_cast<const A*>(a.data);
  const B* second = static_cast<const B*>(b.data);
  R* to = static_cast<R*>(out.data);
  const auto call = [&](const A& x, const B& y) {
    return static_cast<R>(function(static_cast<ComputeType<A>>(x), static_cast<ComputeType<B>>(y)));
  };
  loop.ForEachRow([&](int64_t at, std::span<const int64_t> offsets, int64_t count) {
    const A* x = first + offsets[0];
    const B* y = second + offsets[1];
    R* row = to + at;
    if (loop.row_stride(0) == 0) {
      for (int64_t i = 0; i < count; ++i) row[i] = call(*x, y[i * loop.row_stride(1)]);
    } else if (loop.row_stride(1) == 0) {
      for (int64_t i = 0; i < count; ++i) row[i] = call(x[i], *y);
    } else {
      for (int64_t i = 0; i < count; ++i) row[i] = call(x[i], y[i]);
    }
  });
}

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_ELEMENTWISE_H_
