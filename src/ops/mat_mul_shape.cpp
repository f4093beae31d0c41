#include "ops/mat_mul_shape.h"

namespace kheya {
namespace {

// The leading axes of an operand of rank 2 or more.
SymbolicShape LeadingAxes(const SymbolicShape& shape) {
  return shape.size() > 2 ? SymbolicShape(shape.begin(), shape.end() - 2) : SymbolicShape();
}

}  // namespace

Result<std::optional<SymbolicShape>> InferMatMulShape(const InferContext& context, int a_index,
                                                      int b_index) {
  const SymbolicShape* a = context.input_shape(a_index);
  const SymbolicShape* b = context.input_shape(b_index);
  if (a == nullptr || b == nullptr) return std::optional<SymbolicShape>();
  if (a->empty() || b->empty()) {
    return InvalidArgumentError("found shapes {} and {}, expected no scalars", ToString(*a),
                                ToString(*b));
  }
  const Dim& a_inner = a->back();
  const Dim& b_inner = (*b)[b->size() == 1 ? 0 : b->size() - 2];
  if (a_inner.known() && b_inner.known() && a_inner.value() != b_inner.value()) {
    return InvalidArgumentError("found inner sizes {} of {} and {} of {}, expected equal ones",
                                a_inner.value(), ToString(*a), b_inner.value(), ToString(*b));
  }
  KHEYA_ASSIGN_OR_RETURN(SymbolicShape shape, BroadcastShapes(LeadingAxes(*a), LeadingAxes(*b)));
  if (a->size() > 1) shape.push_back((*a)[a->size() - 2]);
  if (b->size() > 1) shape.push_back(b->back());
  return std::optional(std::move(shape));
}

}  // namespace kheya
