// What operators that draw random numbers share.
#ifndef KHEYA_OPS_RANDOM_OPS_H_
#define KHEYA_OPS_RANDOM_OPS_H_

#include "kernels/reference/random_numbers.h"
#include "ops/contexts.h"

namespace kheya {

// From attribute 'seed' (a float or an integer) when the node has one, else from the context's.
kernels::RandomNumbers NumbersFor(const EvalContext& context);

}  // namespace kheya

#endif  // KHEYA_OPS_RANDOM_OPS_H_
