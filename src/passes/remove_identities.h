// remove_identities: nodes whose output is, to the last bit, their input: Identity, Dropout (in
// inference), Cast to the same type, reshaping and expanding to the same shape, Transpose in order,
// Pad by nothing, Slice of everything, Concat, Sum, Max, Min and Mean of one, Split into one,
// multiplying or dividing by one, subtracting zero.
#ifndef KHEYA_PASSES_REMOVE_IDENTITIES_H_
#define KHEYA_PASSES_REMOVE_IDENTITIES_H_

#include "passes/pass.h"

namespace kheya {

Status RemoveIdentities(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_REMOVE_IDENTITIES_H_
