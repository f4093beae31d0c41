#include <limits>
#include <vector>

#include "kernels/reference/conv.h"
#include "ops/axes.h"
#include "ops/conv_attributes.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kFloat, 'T'},
                                {"W", types::kFloat, 'T'},
                                {"B", types::kFloat, 'T', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kAttributes[] = {
    {"auto_pad", AttributeKind::kString},     {"dilations", AttributeKind::kInts},
    {"group", AttributeKind::kInt},           {"kernel_shape", AttributeKind::kInts},
    {"output_padding", AttributeKind::kInts}, {"output_shape", AttributeKind::kInts},
    {"pads", AttributeKind::kInts},           {"strides", AttributeKind::kInts}};

// The size of one spatial axis where output_shape does not tell it.
Dim OutputDim(const WindowAttributes& window, int axis, const Dim& input, int64_t extra) {
  const kernels::Window& w = window.window;
  if (window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower) {
    return input * w.stride[axis];
  }
  return (input - 1) * w.stride[axis] +
         (extra + DilatedKernel(w, axis) - w.pad_begin[axis] - w.pad_end[axis]);
}

Result<SymbolicShape> OutputShape(InferContext& context, const SymbolicShape& x,
                                  const SymbolicShape& w) {
  const int rank = static_cast<int>(x.size()) - 2;
  SymbolicShape shape = UnknownDims(rank + 2);
  shape[0] = x[0];
  shape[1] = w[1] * context.attributes().Int("group", 1);
  const std::vector<int64_t> sizes = context.attributes().Ints("output_shape");
  const std::vector<int64_t> extra = context.attributes().Ints("output_padding");
  KHEYA_ASSIGN_OR_RETURN(std::optional<WindowAttributes> window,
                         ReadConvWindow(context.attributes(), w));
  if (!extra.empty() && static_cast<int>(extra.size()) != rank) {
    return InvalidArgumentError("found {} values of output_padding, expected {}", extra.size(),
                                rank);
  }
  for (int64_t padding : extra) {
    if (padding < 0 || padding > std::numeric_limits<int32_t>::max()) {
      return InvalidArgumentError("found an output_padding of {}, expected a small size", padding);
    }
  }
  for (int i = 0; i < rank; ++i) {
    if (static_cast<int>(sizes.size()) >= rank) {
      shape[2 + i] = sizes[sizes.size() - rank + i];
    } else if (window) {
      shape[2 + i] = OutputDim(*window, kernels::kSpatialAxes - rank + i, x[2 + i],
                               extra.empty() ? 0 : extra[i]);
    }
  }
  return shape;
}

Status Infer(InferContext& context) {
  const SymbolicShape* x = context.input_shape(0);
  const SymbolicShape* w = context.input_shape(1);
  const DType dtype = context.input_dtype(0);
  if (x == nullptr || w == nullptr) return context.SetOutput(0, dtype, std::nullopt);
  if (x->size() != w->size() || x->size() < 3) {
    return InvalidArgumentError("found input {} and weights {}, expected equal ranks from 3 on",
                                ToString(*x), ToString(*w));
  }
  if ((*x)[1].known() && (*w)[0].known() && (*x)[1].value() != (*w)[0].value()) {
    return InvalidArgumentError("found {} channels of input {}, weights {} expect {}",
                                (*x)[1].value(), ToString(*x), ToString(*w), (*w)[0].value());
  }
  KHEYA_ASSIGN_OR_RETURN(SymbolicShape shape, OutputShape(context, *x, *w));
  return context.SetOutput(0, dtype, std::move(shape));
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(Tensor x, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(Tensor w, WideInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(Tensor bias, WideInput(context, 2));
  KHEYA_ASSIGN_OR_RETURN(kernels::ConvParams params,
                         ReadConvTranspose(context.attributes(), x.shape(), w.shape()));
  KHEYA_ASSIGN_OR_RETURN(Shape shape, ConvTransposeOutputShape(params, x.shape(), w.shape()));
  KHEYA_RETURN_IF_ERROR(CheckConvBias(bias, shape));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  KHEYA_RETURN_IF_ERROR(kernels::ConvTranspose(params, x.view(), w.view(), bias.view(), y.view()));
  return y.Finish();
}

std::optional<int64_t> Macs(const Graph& graph, const Node& node) {
  return ConvMacsOf(graph, node, node.inputs[0]);
}

}  // namespace

extern const OpDef kConvTransposeOp;
const OpDef kConvTransposeOp = {.domain = "",
                                .name = "ConvTranspose",
                                .category = "convolution and pooling",
                                .inputs = kInputs,
                                .outputs = kOutputs,
                                .attributes = kAttributes,
                                .infer = Infer,
                                .evaluate = Evaluate,
                                .macs = Macs};

}  // namespace kheya
