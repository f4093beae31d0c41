#include <vector>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/gather_indices.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {
    {"data", types::kEvery, 'T'}, {"indices", types::kInt64}, {"updates", types::kEvery, 'T'}};
constexpr ParamDef kOutputs[] = {{"output", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"reduction", AttributeKind::kString}};

Status Infer(InferContext& context) {
  return context.SetOutput(0, context.input_dtype(0), ShapeOrNull(context, 0));
}

// The shape that updates must have: one block of data for each index tuple.
Result<Shape> UpdatesShape(const Shape& data, const Shape& indices) {
  if (indices.rank() == 0 || indices[indices.rank() - 1] < 1 ||
      indices[indices.rank() - 1] > data.rank()) {
    return InvalidArgumentError("found indices {} of data {}, expected index tuples of 1 to {}",
                                indices.ToString(), data.ToString(), data.rank());
  }
  std::vector<int64_t> dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), data.begin() + indices[indices.rank() - 1], data.end());
  return Shape::Create(dims);
}

Status Evaluate(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Tensor& indices = context.input(1);
  const Tensor& updates = context.input(2);
  const Shape& in = data.shape();
  const Shape& at = indices.shape();
  KHEYA_ASSIGN_OR_RETURN(Shape expected, UpdatesShape(in, at));
  if (!(updates.shape() == expected)) {
    return InvalidArgumentError("found updates {}, expected {}", updates.shape().ToString(),
                                expected.ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(Reduction reduction,
                         ParseReduction(context.attributes().String("reduction", "none")));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, data.dtype(), in));
  kernels::CopyElements(data.view(), 0, out, 0, data.num_elements());
  const int tuple = static_cast<int>(at[at.rank() - 1]);
  const auto strides = StridesOf(in);
  const int64_t block = in.Product(tuple, in.rank());
  const std::span<const int64_t> values = indices.data<int64_t>();
  for (int64_t i = 0; i < at.Product(0, at.rank() - 1); ++i) {
    int64_t offset = 0;
    for (int axis = 0; axis < tuple; ++axis) {
      KHEYA_ASSIGN_OR_RETURN(int64_t index, NormalizeIndex(values[i * tuple + axis], in[axis]));
      offset += index * strides[axis];
    }
    KHEYA_RETURN_IF_ERROR(ReduceInto(reduction, updates.view(), i * block, out, offset, block));
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kScatterNDOp;
const OpDef kScatterNDOp = {.domain = "",
                            .name = "ScatterND",
                            .category = "shape",
                            .inputs = kInputs,
                            .outputs = kOutputs,
                            .attributes = kAttributes,
                            .infer = Infer,
                            .evaluate = Evaluate};

}  // namespace kheya
