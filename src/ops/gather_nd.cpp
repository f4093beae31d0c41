#include <algorithm>
#include <vector>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/gather_indices.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"data", types::kEvery, 'T'}, {"indices", types::kInt64}};
constexpr ParamDef kOutputs[] = {{"output", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"batch_dims", AttributeKind::kInt}};

// `tuple`: the last dimension of the indices, as many axes as one index tuple addresses.
Status CheckRanks(int64_t batch_dims, size_t data_rank, size_t indices_rank, int64_t tuple) {
  const int64_t smaller = static_cast<int64_t>(std::min(data_rank, indices_rank));
  if (batch_dims < 0 || batch_dims >= smaller) {
    return InvalidArgumentError("found batch_dims {} of ranks {} and {}, expected less than both",
                                batch_dims, data_rank, indices_rank);
  }
  if (tuple >= 1 && tuple <= static_cast<int64_t>(data_rank) - batch_dims) return OkStatus();
  return InvalidArgumentError("found index tuples of {}, expected 1 to {}", tuple,
                              static_cast<int64_t>(data_rank) - batch_dims);
}

Status Infer(InferContext& context) {
  const SymbolicShape* data = context.input_shape(0);
  const SymbolicShape* indices = context.input_shape(1);
  const DType dtype = context.input_dtype(0);
  if (data == nullptr || indices == nullptr || indices->empty() || !indices->back().known()) {
    return context.SetOutput(0, dtype, std::nullopt);
  }
  const int64_t batch_dims = context.attributes().Int("batch_dims", 0);
  const int64_t tuple = indices->back().value();
  KHEYA_RETURN_IF_ERROR(CheckRanks(batch_dims, data->size(), indices->size(), tuple));
  SymbolicShape shape(indices->begin(), indices->end() - 1);
  shape.insert(shape.end(), data->begin() + batch_dims + tuple, data->end());
  return context.SetOutput(0, dtype, std::move(shape));
}

Result<Shape> OutputShape(const Shape& data, const Shape& indices, int batch, int tuple) {
  for (int i = 0; i < batch; ++i) {
    if (data[i] != indices[i]) {
      return InvalidArgumentError("found data {} and indices {}, expected {} equal leading axes",
                                  data.ToString(), indices.ToString(), batch);
    }
  }
  std::vector<int64_t> dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), data.begin() + batch + tuple, data.end());
  return Shape::Create(dims);
}

Status Evaluate(EvalContext& context) {
  const Tensor& data = context.input(0);
  const Tensor& indices = context.input(1);
  const Shape& in = data.shape();
  const Shape& at = indices.shape();
  const int64_t batch_dims = context.attributes().Int("batch_dims", 0);
  KHEYA_RETURN_IF_ERROR(
      CheckRanks(batch_dims, in.rank(), at.rank(), at.rank() == 0 ? 0 : at[at.rank() - 1]));
  const int batch = static_cast<int>(batch_dims);
  const int tuple = static_cast<int>(at[at.rank() - 1]);
  KHEYA_ASSIGN_OR_RETURN(Shape shape, OutputShape(in, at, batch, tuple));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, data.dtype(), shape));
  if (shape.num_elements() == 0) return OkStatus();
  const auto strides = StridesOf(in);
  const int64_t block = in.Product(batch + tuple, in.rank());
  const int64_t batch_size = in.Product(batch, in.rank());
  const int64_t tuples_per_batch = at.Product(batch, at.rank() - 1);
  const std::span<const int64_t> values = indices.data<int64_t>();
  for (int64_t i = 0; i < at.Product(0, at.rank() - 1); ++i) {
    int64_t offset = i / tuples_per_batch * batch_size;
    for (int axis = 0; axis < tuple; ++axis) {
      KHEYA_ASSIGN_OR_RETURN(int64_t index,
                             NormalizeIndex(values[i * tuple + axis], in[batch + axis]));
      offset += index * strides[batch + axis];
    }
    kernels::CopyElements(data.view(), offset, out, i * block, block);
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kGatherNDOp;
const OpDef kGatherNDOp = {.domain = "",
                           .name = "GatherND",
                           .category = "shape",
                           .inputs = kInputs,
                           .outputs = kOutputs,
                           .attributes = kAttributes,
                           .infer = Infer,
                           .evaluate = Evaluate};

}  // namespace kheya
