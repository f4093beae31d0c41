// CallWithFloatType: a template on float or double by element type.
#ifndef KHEYA_KERNELS_REFERENCE_FLOAT_DISPATCH_H_
#define KHEYA_KERNELS_REFERENCE_FLOAT_DISPATCH_H_

#include "base/status.h"
#include "tensor/dtype.h"

namespace kheya::kernels {

// Calls `function` with a float or a double that only names the type; Unimplemented for other
// types. The half types are widened before they come here.
template <typename Function>
Status CallWithFloatType(DType dtype, Function&& function) {
  if (dtype == DType::kFloat32) {
    function(float{});
    return OkStatus();
  }
  if (dtype == DType::kFloat64) {
    function(double{});
    return OkStatus();
  }
  return UnimplementedError("found element type {}, supported are float32 and float64",
                            DTypeName(dtype));
}

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_FLOAT_DISPATCH_H_
