// lower_conv: Conv, an Add of a value of the same shape (a residual) and an activation become one
// kheya.FusedConv(x, w, bias, residual). What is not there is left out, but one of the two is.
#ifndef KHEYA_PASSES_LOWER_CONV_H_
#define KHEYA_PASSES_LOWER_CONV_H_

#include "passes/pass.h"

namespace kheya {

Status LowerConv(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_LOWER_CONV_H_
