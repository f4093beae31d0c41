// Conversion between element types.
#ifndef KHEYA_KERNELS_REFERENCE_CAST_H_
#define KHEYA_KERNELS_REFERENCE_CAST_H_

#include "base/status.h"
#include "tensor/small_types.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

// y = x converted, of the same shape, between float types, halves, integers, bool, strings
// and small types.
//   float to integer:   toward zero; outside the range the nearest end, NaN gives 0
//   integer to integer: wraps
//   number to bool:     not 0 (NaN is true)
//   number to string:   the shortest text that reads back the same; floats with a point or an
//                       exponent ("1.0", "1e+16"), "nan", "inf", "-inf"; bool "True" and "False"
//   string to number:   decimal, with exponents, inf and nan for floats; bool also "True" and
//                       "False"; InvalidArgument naming the text otherwise
//   to a small type:    tensor/small_types.h; a small integer has the low bits of an integer, or of
//                       a float taken toward zero
// Unimplemented for complex numbers.
Status Cast(const TensorView& x, const MutableTensorView& y, const SmallOptions& options = {});

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_CAST_H_
