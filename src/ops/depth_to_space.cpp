// DepthToSpace, SpaceToDepth: blocks of pixels to channels and back.
#include <array>
#include <string>
#include <vector>

#include "base/checked_math.h"
#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"input", types::kEvery, 'T'}};
constexpr ParamDef kOutputs[] = {{"output", types::kEvery, 'T'}};
constexpr AttributeDef kAttributes[] = {{"blocksize", AttributeKind::kInt, true},
                                        {"mode", AttributeKind::kString}};

Result<int64_t> BlockSize(const AttributeReader& attributes) {
  const int64_t block = attributes.Int("blocksize", 0);
  if (block >= 1 && block <= (int64_t{1} << 30)) return block;
  return InvalidArgumentError("found a blocksize of {}, expected 1 to 1073741824", block);
}

// CRD: a channel's blocks stand together; DCR: a block's channels do.
Result<bool> BlocksLast(const AttributeReader& attributes) {
  const std::string mode = attributes.String("mode", "DCR");
  if (mode == "DCR" || mode == "CRD") return mode == "CRD";
  return InvalidArgumentError("found mode '{}', expected DCR or CRD", mode);
}

Status InferBlocks(InferContext& context, bool to_space) {
  const SymbolicShape* in = context.input_shape(0);
  KHEYA_ASSIGN_OR_RETURN(int64_t block, BlockSize(context.attributes()));
  SymbolicShape shape = UnknownDims(4);
  if (in != nullptr) {
    if (in->size() != 4) {
      return InvalidArgumentError("found input {}, expected rank 4", ToString(*in));
    }
    shape = *in;
    shape[1] = to_space ? shape[1].FloorDiv(block * block) : shape[1] * Dim(block * block);
    for (int i = 2; i < 4; ++i) {
      shape[i] = to_space ? shape[i] * Dim(block) : shape[i].FloorDiv(block);
    }
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Status InferDepth(InferContext& context) { return InferBlocks(context, true); }
Status InferSpace(InferContext& context) { return InferBlocks(context, false); }

// Copies the input seen as six dimensions in the order `perm`, out as `dims`.
Status Rearrange(EvalContext& context, const std::array<int64_t, 6>& split,
                 const std::array<int, 6>& perm, const std::array<int64_t, 4>& dims) {
  const Tensor& input = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(Shape view, Shape::Create(split));
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(dims));
  const auto strides = StridesOf(view);
  kernels::StridedRead read;
  for (int axis : perm) {
    read.dims.push_back(view[axis]);
    read.strides.push_back(strides[axis]);
  }
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, input.dtype(), shape));
  return kernels::CopyStrided(read, input.view(), out);
}

Status EvaluateDepth(EvalContext& context) {
  const Shape& in = context.input(0).shape();
  KHEYA_ASSIGN_OR_RETURN(int64_t b, BlockSize(context.attributes()));
  if (in.rank() != 4 || in[1] % (b * b) != 0) {
    return InvalidArgumentError("found input {}, expected rank 4 and channels divisible by {}",
                                in.ToString(), b * b);
  }
  KHEYA_ASSIGN_OR_RETURN(const bool blocks_last, BlocksLast(context.attributes()));
  std::array<int64_t, 4> dims = {in[0], in[1] / (b * b), 0, 0};
  if (!CheckedMul(in[2], b, &dims[2]) || !CheckedMul(in[3], b, &dims[3])) {
    return InvalidArgumentError("found input {}, too large for blocks of {}", in.ToString(), b);
  }
  if (blocks_last) {
    return Rearrange(context, {in[0], dims[1], b, b, in[2], in[3]}, {0, 1, 4, 2, 5, 3}, dims);
  }
  return Rearrange(context, {in[0], b, b, dims[1], in[2], in[3]}, {0, 3, 4, 1, 5, 2}, dims);
}

Status EvaluateSpace(EvalContext& context) {
  const Shape& in = context.input(0).shape();
  KHEYA_ASSIGN_OR_RETURN(int64_t b, BlockSize(context.attributes()));
  if (in.rank() != 4 || in[2] % b != 0 || in[3] % b != 0) {
    return InvalidArgumentError("found input {}, expected rank 4 and sizes divisible by {}",
                                in.ToString(), b);
  }
  std::array<int64_t, 4> dims = {in[0], 0, in[2] / b, in[3] / b};
  if (!CheckedMul(in[1], b * b, &dims[1])) {
    return InvalidArgumentError("found input {}, too large for blocks of {}", in.ToString(), b);
  }
  KHEYA_ASSIGN_OR_RETURN(const bool blocks_last, BlocksLast(context.attributes()));
  const std::array<int64_t, 6> split = {in[0], in[1], dims[2], b, dims[3], b};
  if (blocks_last) return Rearrange(context, split, {0, 1, 3, 5, 2, 4}, dims);
  return Rearrange(context, split, {0, 3, 5, 1, 2, 4}, dims);
}

}  // namespace

extern const OpDef kDepthToSpaceOp;
const OpDef kDepthToSpaceOp = {.domain = "",
                               .name = "DepthToSpace",
                               .category = "shape",
                               .inputs = kInputs,
                               .outputs = kOutputs,
                               .attributes = kAttributes,
                               .infer = InferDepth,
                               .evaluate = EvaluateDepth};

extern const OpDef kSpaceToDepthOp;
const OpDef kSpaceToDepthOp = {.domain = "",
                               .name = "SpaceToDepth",
                               .category = "shape",
                               .inputs = kInputs,
                               .outputs = kOutputs,
                               .attributes = kAttributes,
                               .infer = InferSpace,
                               .evaluate = EvaluateSpace};

}  // namespace kheya
