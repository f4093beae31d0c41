#include <vector>

#include "kernels/params/conv.h"
#include "kernels/reference/grid.h"
#include "ops/axes.h"
#include "ops/op.h"
#include "ops/wide.h"
#include "ops/window_attributes.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kFloat, 'T'},
                                {"W", types::kFloat, 'T'},
                                {"offset", types::kFloat, 'T'},
                                {"B", types::kFloat, 'T', Presence::kOptional},
                                {"mask", types::kFloat, 'T', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kAttributes[] = {
    {"dilations", AttributeKind::kInts},    {"group", AttributeKind::kInt},
    {"kernel_shape", AttributeKind::kInts}, {"offset_group", AttributeKind::kInt},
    {"pads", AttributeKind::kInts},         {"strides", AttributeKind::kInts}};

Status Infer(InferContext& context) {
  const SymbolicShape* x = context.input_shape(0);
  const SymbolicShape* w = context.input_shape(1);
  const SymbolicShape* offset = context.input_shape(2);
  std::optional<SymbolicShape> shape;
  if (x != nullptr && w != nullptr && offset != nullptr && x->size() == 4 && w->size() == 4 &&
      offset->size() == 4) {
    shape = SymbolicShape{(*x)[0], (*w)[0], (*offset)[2], (*offset)[3]};
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Status CheckShape(const char* what, const Shape& found, const Shape& expected) {
  if (found == expected) return OkStatus();
  return InvalidArgumentError("found {} {}, expected {}", what, found.ToString(),
                              expected.ToString());
}

kernels::BlockAxis AxisOf(const kernels::Window& window, int axis, int64_t image,
                          int64_t positions) {
  return {image,
          window.kernel[axis],
          window.dilation[axis],
          window.stride[axis],
          window.pad_begin[axis],
          positions};
}

struct Deform {
  kernels::DeformParams params;
  Shape output;
};

Result<Deform> ReadDeform(const AttributeReader& attributes, const Shape& x, const Shape& w) {
  if (x.rank() != 4 || w.rank() != 4) {
    return UnimplementedError("X {} and W {} are not supported, only two spatial axes are",
                              x.ToString(), w.ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(const WindowAttributes window,
                         ReadWindow(attributes, 2, w.dims().subspan(2)));
  kernels::ConvParams conv;
  conv.window = window.window;
  conv.groups = attributes.Int("group", 1);
  Deform deform;
  KHEYA_ASSIGN_OR_RETURN(deform.output, kernels::ConvOutputShape(conv, x, w));
  kernels::DeformParams& params = deform.params;
  params.batch = x[0];
  params.channels = x[1];
  params.height = x[2];
  params.width = x[3];
  params.filters = w[0];
  params.groups = conv.groups;
  params.offset_groups = attributes.Int("offset_group", 1);
  if (params.offset_groups < 1 || params.channels % params.offset_groups != 0) {
    return InvalidArgumentError("found {} offset groups for {} channels, expected a divisor",
                                params.offset_groups, params.channels);
  }
  params.rows = AxisOf(window.window, 1, x[2], deform.output[2]);
  params.columns = AxisOf(window.window, 2, x[3], deform.output[3]);
  return deform;
}

Status CheckOthers(const EvalContext& context, const Deform& deform) {
  const kernels::DeformParams& params = deform.params;
  const int64_t taps = params.offset_groups * params.rows.block * params.columns.block;
  const Shape& out = deform.output;
  KHEYA_RETURN_IF_ERROR(CheckShape("offset", context.input(2).shape(),
                                   Shape{params.batch, 2 * taps, out[2], out[3]}));
  if (context.has_input(3)) {
    KHEYA_RETURN_IF_ERROR(CheckShape("B", context.input(3).shape(), Shape{params.filters}));
  }
  if (!context.has_input(4)) return OkStatus();
  return CheckShape("mask", context.input(4).shape(), Shape{params.batch, taps, out[2], out[3]});
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(const Tensor w, WideInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(const Deform deform,
                         ReadDeform(context.attributes(), x.shape(), w.shape()));
  KHEYA_RETURN_IF_ERROR(CheckOthers(context, deform));
  KHEYA_ASSIGN_OR_RETURN(const Tensor offset, WideInput(context, 2));
  KHEYA_ASSIGN_OR_RETURN(const Tensor bias, WideInput(context, 3));
  KHEYA_ASSIGN_OR_RETURN(const Tensor mask, WideInput(context, 4));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), deform.output));
  KHEYA_RETURN_IF_ERROR(kernels::DeformConv(deform.params, x.view(), w.view(), offset.view(),
                                            bias.view(), mask.view(), y.view()));
  return y.Finish();
}

}  // namespace

extern const OpDef kDeformConvOp;
const OpDef kDeformConvOp = {.domain = "",
                             .name = "DeformConv",
                             .category = "convolution and pooling",
                             .inputs = kInputs,
                             .outputs = kOutputs,
                             .attributes = kAttributes,
                             .infer = Infer,
                             .evaluate = Evaluate};

}  // namespace kheya
