// The attributes that RNN, GRU and LSTM share.
#ifndef KHEYA_OPS_RECURRENT_ATTRIBUTES_H_
#define KHEYA_OPS_RECURRENT_ATTRIBUTES_H_

#include "base/status.h"
#include "kernels/reference/recurrent.h"
#include "ops/contexts.h"

namespace kheya {

// Directions and activations with their alpha and beta, clip, and what else is an attribute; sizes
// are left to the caller. InvalidArgument for names that are not known and lists of another length.
Result<kernels::RecurrentParams> ReadRecurrent(const AttributeReader& attributes,
                                               kernels::Cell cell);

}  // namespace kheya

#endif  // KHEYA_OPS_RECURRENT_ATTRIBUTES_H_
