#include <vector>

#include "base/checked_math.h"
#include "kernels/reference/grid.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = types::kNumeric | types::kBool;
constexpr ParamDef kInputs[] = {
    {"input", kTypes, 'T'}, {"image_shape", types::kInt64}, {"block_shape", types::kInt64}};
constexpr ParamDef kOutputs[] = {{"output", kTypes, 'T'}};
constexpr AttributeDef kAttributes[] = {{"dilations", AttributeKind::kInts},
                                        {"pads", AttributeKind::kInts},
                                        {"strides", AttributeKind::kInts}};

Status Infer(InferContext& context) {
  const std::optional<std::vector<Dim>> image = context.input_elements(1);
  const std::optional<std::vector<int64_t>> block = KnownElements(context, 2);
  const SymbolicShape* x = context.input_shape(0);
  std::optional<SymbolicShape> shape;
  if (image) {
    shape = UnknownDims(2);
    shape->insert(shape->end(), image->begin(), image->end());
    if (x != nullptr && x->size() == 3) {
      (*shape)[0] = (*x)[0];
      Dim size = block ? Dim(1) : Dim();
      for (size_t i = 0; block && i < block->size(); ++i) size = size * Dim((*block)[i]);
      if (size.known() && size.value() > 0) (*shape)[1] = (*x)[1].FloorDiv(size);
    }
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

constexpr int64_t kMostSize = std::numeric_limits<int32_t>::max();

// The number of places of a block along an axis.
Status CountPositions(int64_t pad_end, kernels::BlockAxis& axis) {
  for (int64_t value : {axis.image, axis.pad_begin, pad_end}) {
    if (value < 0 || value > kMostSize) {
      return InvalidArgumentError("found a size or pad of {}, expected 0 to {}", value, kMostSize);
    }
  }
  for (int64_t value : {axis.block, axis.dilation, axis.stride}) {
    if (value < 1 || value > kMostSize) {
      return InvalidArgumentError("found a block, dilation or stride of {}, expected 1 to {}",
                                  value, kMostSize);
    }
  }
  const int64_t extent = axis.dilation * (axis.block - 1) + 1;
  const int64_t room = axis.image + axis.pad_begin + pad_end - extent;
  if (room < 0) {
    return InvalidArgumentError("found a block of {} in an image of {}", extent, axis.image);
  }
  axis.positions = room / axis.stride + 1;
  return OkStatus();
}

Result<std::vector<kernels::BlockAxis>> AxesOf(const EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> image, IntListInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> block, IntListInput(context, 2));
  const size_t count = image.size();
  const auto list = [&](const char* name, size_t size, int64_t missing) {
    std::vector<int64_t> values = context.attributes().Ints(name);
    if (values.empty()) values.assign(size, missing);
    return values;
  };
  const std::vector<int64_t> dilations = list("dilations", count, 1);
  const std::vector<int64_t> strides = list("strides", count, 1);
  const std::vector<int64_t> pads = list("pads", 2 * count, 0);
  if (block.size() != count || dilations.size() != count || strides.size() != count ||
      pads.size() != 2 * count) {
    return InvalidArgumentError(
        "found {} image axes, {} of the block, {} dilations, {} strides, {} pads", count,
        block.size(), dilations.size(), strides.size(), pads.size());
  }
  std::vector<kernels::BlockAxis> axes(count);
  for (size_t i = 0; i < count; ++i) {
    axes[i] = {image[i], block[i], dilations[i], strides[i], pads[i], 0};
    KHEYA_RETURN_IF_ERROR(CountPositions(pads[count + i], axes[i]).WithContext("image axis {}", i));
  }
  return axes;
}

Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  const Shape& in = x.shape();
  KHEYA_ASSIGN_OR_RETURN(const std::vector<kernels::BlockAxis> axes, AxesOf(context));
  int64_t block = 1;
  int64_t positions = 1;
  for (const kernels::BlockAxis& axis : axes) {
    if (!CheckedMul(block, axis.block, &block) ||
        !CheckedMul(positions, axis.positions, &positions)) {
      return InvalidArgumentError("the number of blocks overflows");
    }
  }
  if (in.rank() != 3 || in[1] % block != 0 || in[2] != positions) {
    return InvalidArgumentError("found input {}, expected [N, a multiple of {}, {}]", in.ToString(),
                                block, positions);
  }
  std::vector<int64_t> dims = {in[0], in[1] / block};
  for (const kernels::BlockAxis& axis : axes) dims.push_back(axis.image);
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, x.dtype(), shape));
  return kernels::ColumnsToImage(axes, in[0] * (in[1] / block), x.view(), y);
}

}  // namespace

extern const OpDef kCol2ImOp;
const OpDef kCol2ImOp = {.domain = "",
                         .name = "Col2Im",
                         .category = "pictures",
                         .inputs = kInputs,
                         .outputs = kOutputs,
                         .attributes = kAttributes,
                         .infer = Infer,
                         .evaluate = Evaluate};

}  // namespace kheya
