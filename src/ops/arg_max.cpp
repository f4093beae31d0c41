// ArgMax and ArgMin.
#include <vector>

#include "kernels/reference/reduce.h"
#include "ops/axes.h"
#include "ops/one_axis.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"data", types::kNumeric}};
constexpr ParamDef kOutputs[] = {{"reduced", types::kInt64}};
constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt},
                                        {"keepdims", AttributeKind::kInt},
                                        {"select_last_index", AttributeKind::kInt}};

// `dims` with the axis made 1 or, without keepdims, removed.
template <typename D>
std::vector<D> ReducedDims(const AttributeReader& attributes, std::span<const D> dims, int axis) {
  std::vector<D> result(dims.begin(), dims.end());
  if (attributes.Int("keepdims", 1) != 0) {
    result[axis] = D(1);
  } else {
    result.erase(result.begin() + axis);
  }
  return result;
}

Status Infer(InferContext& context) {
  const SymbolicShape* data = context.input_shape(0);
  if (data == nullptr) return context.SetOutput(0, DType::kInt64, std::nullopt);
  KHEYA_ASSIGN_OR_RETURN(
      int axis, NormalizeAxis(context.attributes().Int("axis", 0), static_cast<int>(data->size())));
  return context.SetOutput(0, DType::kInt64, ReducedDims<Dim>(context.attributes(), *data, axis));
}

template <bool largest>
Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  const AttributeReader attributes = context.attributes();
  KHEYA_ASSIGN_OR_RETURN(int axis, NormalizeAxis(attributes.Int("axis", 0), x.shape().rank()));
  KHEYA_ASSIGN_OR_RETURN(Shape shape,
                         Shape::Create(ReducedDims<int64_t>(attributes, x.shape().dims(), axis)));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView y, context.Output(0, DType::kInt64, shape));
  const bool last = attributes.Int("select_last_index", 0) != 0;
  return kernels::ArgReduce(largest, last, RowsAlong(x.shape(), axis), x.view(), y);
}

constexpr OpDef Op(const char* name, Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "reduction",
          .inputs = kInputs,
          .outputs = kOutputs,
          .attributes = kAttributes,
          .infer = Infer,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kArgMaxOp;
const OpDef kArgMaxOp = Op("ArgMax", Evaluate<true>);
extern const OpDef kArgMinOp;
const OpDef kArgMinOp = Op("ArgMin", Evaluate<false>);

}  // namespace kheya
