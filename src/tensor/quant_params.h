// QuantParams: how integers stand for reals: real = scale * (q - zero_point).
#ifndef KHEYA_TENSOR_QUANT_PARAMS_H_
#define KHEYA_TENSOR_QUANT_PARAMS_H_

#include <cstdint>
#include <vector>

#include "tensor/dtype.h"

namespace kheya {

struct QuantParams {
  DType dtype = DType::kInt8;        // of the integers
  int axis = -1;                     // -1: one scale for the whole tensor; else one per index
  std::vector<float> scales;         // positive and finite
  std::vector<int32_t> zero_points;  // as many as scales; empty: all 0 (symmetric)
};

}  // namespace kheya

#endif  // KHEYA_TENSOR_QUANT_PARAMS_H_
