// Products of quantized matrices, in expansions.
#ifndef KHEYA_OPS_MICROSOFT_QUANTIZED_PRODUCTS_H_
#define KHEYA_OPS_MICROSOFT_QUANTIZED_PRODUCTS_H_

#include "ops/expansion.h"

namespace kheya {

struct QuantizedOperand {
  ValueId values;      // int8 or uint8
  ValueId scale;       // float32: one, or for b one for each column
  ValueId zero_point;  // of the values' type; invalid: none
};

// a_scale b_scale (a - a_zero)(b - b_zero) in float32, the sums in int32.
ValueId ScaledProduct(Expansion& e, const QuantizedOperand& a, const QuantizedOperand& b);

}  // namespace kheya

#endif  // KHEYA_OPS_MICROSOFT_QUANTIZED_PRODUCTS_H_
