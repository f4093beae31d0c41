#include <vector>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"data", types::kEvery, 'T'}};
constexpr ParamDef kOutputs[] = {{"transposed", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"perm", AttributeKind::kInts}};

Result<std::vector<int>> Permutation(const AttributeReader& attributes, int rank) {
  if (!attributes.Has("perm")) {
    std::vector<int> reversed;
    for (int i = rank - 1; i >= 0; --i) reversed.push_back(i);
    return reversed;
  }
  const std::vector<int64_t> perm = attributes.Ints("perm");
  if (static_cast<int>(perm.size()) != rank) {
    return InvalidArgumentError("found {} values of perm, the input has rank {}", perm.size(),
                                rank);
  }
  return NormalizeAxes(perm, rank);
}

Status Infer(InferContext& context) {
  const SymbolicShape* shape = context.input_shape(0);
  const DType dtype = context.input_dtype(0);
  if (shape == nullptr) {
    const size_t rank = context.attributes().Ints("perm").size();
    if (rank == 0 || rank > static_cast<size_t>(kMaxRank)) {
      return context.SetOutput(0, dtype, std::nullopt);
    }
    return context.SetOutput(0, dtype, UnknownDims(static_cast<int>(rank)));
  }
  KHEYA_ASSIGN_OR_RETURN(std::vector<int> perm,
                         Permutation(context.attributes(), static_cast<int>(shape->size())));
  SymbolicShape output;
  for (int axis : perm) output.push_back((*shape)[axis]);
  const bool list = output.size() <= 1;
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, dtype, std::move(output)));
  if (auto elements = context.input_elements(0); elements && list) {
    context.SetOutputElements(0, std::move(*elements));
  }
  return OkStatus();
}

Status Evaluate(EvalContext& context) {
  const Tensor& data = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(std::vector<int> perm,
                         Permutation(context.attributes(), data.shape().rank()));
  const auto strides = StridesOf(data.shape());
  kernels::StridedRead read;
  for (int axis : perm) {
    read.dims.push_back(data.shape()[axis]);
    read.strides.push_back(strides[axis]);
  }
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(read.dims));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, data.dtype(), shape));
  return kernels::CopyStrided(read, data.view(), out);
}

}  // namespace

extern const OpDef kTransposeOp;
const OpDef kTransposeOp = {.domain = "",
                            .name = "Transpose",
                            .category = "shape",
                            .inputs = kInputs,
                            .outputs = kOutputs,
                            .attributes = kAttributes,
                            .infer = Infer,
                            .evaluate = Evaluate};

}  // namespace kheya
