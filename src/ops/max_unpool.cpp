#include <vector>

#include "base/checked_math.h"
#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kFloat, 'T'},
                                {"I", types::kInt64},
                                {"output_shape", types::kInt64, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output", types::kFloat, 'T'}};
constexpr AttributeDef kAttributes[] = {{"kernel_shape", AttributeKind::kInts, true},
                                        {"pads", AttributeKind::kInts},
                                        {"strides", AttributeKind::kInts}};

struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> pads;
};

Result<Window> WindowOf(const AttributeReader& attributes, int rank) {
  Window window = {attributes.Ints("kernel_shape"), attributes.Ints("strides"),
                   attributes.Ints("pads")};
  const size_t axes = window.kernel.size();
  if (window.strides.empty()) window.strides.assign(axes, 1);
  if (window.pads.empty()) window.pads.assign(2 * axes, 0);
  if (static_cast<int>(axes) != rank - 2 || window.strides.size() != axes ||
      window.pads.size() != 2 * axes) {
    return InvalidArgumentError(
        "found {} kernel sizes, {} strides and {} pads for rank {}, expected {}, {} and {}", axes,
        window.strides.size(), window.pads.size(), rank, rank - 2, rank - 2, 2 * (rank - 2));
  }
  return window;
}

// (in - 1) * stride - pads + kernel along each spatial axis.
Status Infer(InferContext& context) {
  const SymbolicShape* x = context.input_shape(0);
  if (x == nullptr) return context.SetOutput(0, context.input_dtype(0), std::nullopt);
  SymbolicShape shape = *x;
  const int rank = static_cast<int>(shape.size());
  KHEYA_ASSIGN_OR_RETURN(const Window window, WindowOf(context.attributes(), rank));
  if (context.has_input(2)) {
    const std::optional<std::vector<Dim>> sizes = context.input_elements(2);
    const bool fits = sizes && sizes->size() == shape.size();
    return context.SetOutput(0, context.input_dtype(0), fits ? *sizes : UnknownDims(rank));
  }
  const size_t axes = window.kernel.size();
  for (size_t i = 0; i < axes; ++i) {
    shape[i + 2] = (shape[i + 2] - 1) * window.strides[i] - window.pads[i] - window.pads[axes + i] +
                   window.kernel[i];
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Result<Shape> UnpooledShape(const Window& window, const Shape& x) {
  std::vector<int64_t> dims(x.begin(), x.end());
  const size_t axes = window.kernel.size();
  for (size_t i = 0; i < axes; ++i) {
    int64_t size = dims[i + 2] - 1;
    if (!CheckedMul(size, window.strides[i], &size) || !CheckedSub(size, window.pads[i], &size) ||
        !CheckedSub(size, window.pads[axes + i], &size) ||
        !CheckedAdd(size, window.kernel[i], &size)) {
      return InvalidArgumentError("the size of axis {} overflows", i + 2);
    }
    dims[i + 2] = size;
  }
  return Shape::Create(dims);
}

// The larger shape that output_shape asks for.
Result<Shape> AskedShape(const EvalContext& context, const Shape& unpooled) {
  if (!context.has_input(2)) return unpooled;
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, IntListInput(context, 2));
  KHEYA_ASSIGN_OR_RETURN(const Shape asked, Shape::Create(sizes));
  bool fits = asked.rank() == unpooled.rank();
  for (int i = 0; fits && i < asked.rank(); ++i) fits = asked[i] >= unpooled[i];
  if (fits) return asked;
  return InvalidArgumentError("found output_shape {}, expected one that holds {}", asked.ToString(),
                              unpooled.ToString());
}

// The element of the larger shape at the index of element `flat` of the smaller one.
int64_t PlaceIn(const Shape& larger, const Shape& smaller, int64_t flat) {
  const auto strides = StridesOf(larger);
  int64_t place = 0;
  for (int axis = smaller.rank(); axis-- > 0;) {
    place += flat % smaller[axis] * strides[axis];
    flat /= smaller[axis];
  }
  return place;
}

Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& indices = context.input(1);
  if (indices.shape() != x.shape()) {
    return InvalidArgumentError("found X {} and I {}, expected equal shapes", x.shape().ToString(),
                                indices.shape().ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(const Window window, WindowOf(context.attributes(), x.shape().rank()));
  KHEYA_ASSIGN_OR_RETURN(const Shape unpooled, UnpooledShape(window, x.shape()));
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, AskedShape(context, unpooled));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out, context.Output(0, x.dtype(), shape));
  KHEYA_ASSIGN_OR_RETURN(const Tensor zero, Tensor::Zeros(x.dtype(), Shape{}));
  KHEYA_RETURN_IF_ERROR(kernels::FillWith(zero.view(), out));
  const auto at = indices.data<int64_t>();
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    if (at[i] < 0 || at[i] >= unpooled.num_elements()) {
      return InvalidArgumentError("found index {}, expected one of {}", at[i], unpooled.ToString());
    }
    kernels::CopyElements(x.view(), i, out, PlaceIn(shape, unpooled, at[i]), 1);
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kMaxUnpoolOp;
const OpDef kMaxUnpoolOp = {.domain = "",
                            .name = "MaxUnpool",
                            .category = "convolution and pooling",
                            .inputs = kInputs,
                            .outputs = kOutputs,
                            .attributes = kAttributes,
                            .infer = Infer,
                            .evaluate = Evaluate};

}  // namespace kheya
