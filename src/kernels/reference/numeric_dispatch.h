// CallWithNumericType: a template on the C++ type of a numeric element.
#ifndef KHEYA_KERNELS_REFERENCE_NUMERIC_DISPATCH_H_
#define KHEYA_KERNELS_REFERENCE_NUMERIC_DISPATCH_H_

#include <cstdint>

#include "base/status.h"
#include "tensor/dtype.h"

namespace kheya::kernels {

// Calls function(T{}) with the C++ type of `dtype`: float types, the half types, integers and
// bool. Unimplemented for others.
template <typename Function>
Status CallWithNumericType(DType dtype, Function&& function) {
  switch (dtype) {
#define KHEYA_NUMERIC_CASE(Name, Type) \
  case DType::k##Name:                 \
    function(Type{});                  \
    return OkStatus()
    KHEYA_NUMERIC_CASE(Float32, float);
    KHEYA_NUMERIC_CASE(Float64, double);
    KHEYA_NUMERIC_CASE(Float16, Float16);
    KHEYA_NUMERIC_CASE(BFloat16, BFloat16);
    KHEYA_NUMERIC_CASE(Int8, int8_t);
    KHEYA_NUMERIC_CASE(Int16, int16_t);
    KHEYA_NUMERIC_CASE(Int32, int32_t);
    KHEYA_NUMERIC_CASE(Int64, int64_t);
    KHEYA_NUMERIC_CASE(Uint8, uint8_t);
    KHEYA_NUMERIC_CASE(Uint16, uint16_t);
    KHEYA_NUMERIC_CASE(Uint32, uint32_t);
    KHEYA_NUMERIC_CASE(Uint64, uint64_t);
    KHEYA_NUMERIC_CASE(Bool, bool);
#undef KHEYA_NUMERIC_CASE
    default:
      return UnimplementedError("found element type {}, supported are numbers and bool",
                                DTypeName(dtype));
  }
}

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_NUMERIC_DISPATCH_H_
