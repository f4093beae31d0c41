// Checks of one node against its operator's schema.
#ifndef KHEYA_OPS_CHECK_INPUTS_H_
#define KHEYA_OPS_CHECK_INPUTS_H_

#include <span>

#include "base/status.h"
#include "graph/graph.h"
#include "ops/op.h"
#include "tensor/value.h"

namespace kheya {

// Arity, left-out inputs and outputs, names and kinds of attributes, required attributes.
Status CheckNode(const OpDef& op, const Node& node);

// Element types of inputs against the schema, those with one letter equal; undefined types are
// not known and pass.
Status CheckInputTypes(const OpDef& op, std::span<const DType> dtypes);

// The same for values at run time: what is required is there, and is a tensor where the schema
// asks for element types.
Status CheckInputValues(const OpDef& op, std::span<const Value> inputs);

}  // namespace kheya

#endif  // KHEYA_OPS_CHECK_INPUTS_H_
