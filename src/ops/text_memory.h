// Memory of strings' text, which no budget counts: a budget counts the strings themselves.
#ifndef KHEYA_OPS_TEXT_MEMORY_H_
#define KHEYA_OPS_TEXT_MEMORY_H_

#include "base/status.h"
#include "ops/contexts.h"
#include "tensor/shape.h"

namespace kheya {

// ResourceExhausted when the budget has no room for the text that an output of this shape may hold:
// each element one of the longest strings of every input.
Status CheckTextFits(const EvalContext& context, const Shape& shape);

}  // namespace kheya

#endif  // KHEYA_OPS_TEXT_MEMORY_H_
