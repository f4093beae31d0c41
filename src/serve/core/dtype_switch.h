// From a DType at run time to a C++ type.
#ifndef KHEYA_SERVE_CORE_DTYPE_SWITCH_H_
#define KHEYA_SERVE_CORE_DTYPE_SWITCH_H_

#include "base/status.h"
#include "tensor/dtype.h"

namespace kheya {

// Returns body(T()) with the type of `dtype`, one of the numbers of 8 bits and more that C++ has.
// Unimplemented, naming the type, for others.
template <typename Body>
Status SwitchNumeric(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::kFloat32:  // NOLINT(bugprone-branch-clone): the types differ
      return body(float());
    case DType::kFloat64:
      return body(double());
    case DType::kInt8:
      return body(int8_t());
    case DType::kInt16:
      return body(int16_t());
    case DType::kInt32:
      return body(int32_t());
    case DType::kInt64:
      return body(int64_t());
    case DType::kUint8:
      return body(uint8_t());
    case DType::kUint16:
      return body(uint16_t());
    case DType::kUint32:
      return body(uint32_t());
    case DType::kUint64:
      return body(uint64_t());
    default:
      return UnimplementedError("the type {} is not supported here", DTypeName(dtype));
  }
}

}  // namespace kheya

#endif  // KHEYA_SERVE_CORE_DTYPE_SWITCH_H_
