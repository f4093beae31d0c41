// CausalConvWithState: a depthwise convolution along time that takes up where it left off.
#include <array>
#include <string>
#include <utility>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/linear_attention.h"
#include "kernels/reference/scalar_functions.h"
#include "ops/axes.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

enum Input { kInput, kWeight, kBias, kPast };

constexpr TypeMask kTypes = MaskOf({DType::kFloat32, DType::kFloat16, DType::kBFloat16});
constexpr ParamDef kInputs[] = {{"input", kTypes, 'T'},
                                {"weight", kTypes, 'T'},
                                {"bias", kTypes, 'T', Presence::kOptional},
                                {"past_state", kTypes, 'T', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output", kTypes, 'T'},
                                 {"present_state", kTypes, 'T', Presence::kOptional}};
constexpr AttributeDef kAttributes[] = {{"activation", AttributeKind::kString}};

Status Infer(InferContext& context) {
  const DType dtype = context.input_dtype(kInput);
  std::optional<SymbolicShape> shape = ShapeOrNull(context, kInput);
  const SymbolicShape* weight = context.input_shape(kWeight);
  if (!shape) shape = UnknownDims(3);
  if (shape->size() != 3 || (weight != nullptr && weight->size() != 3)) {
    return InvalidArgumentError("found input {} and weight {}, expected rank 3", ToString(*shape),
                                weight == nullptr ? "?" : ToString(*weight));
  }
  SymbolicShape state = *shape;
  state[2] = weight == nullptr ? Dim() : (*weight)[2] - Dim(1);
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, dtype, std::move(shape)));
  return context.SetOutput(1, dtype, std::move(state));
}

// The shape of the state; InvalidArgument when shapes do not go together.
Result<Shape> StateShape(const EvalContext& context) {
  const Shape& input = context.input(kInput).shape();
  const Shape& weight = context.input(kWeight).shape();
  if (input.rank() != 3 || weight.rank() != 3 || weight[0] != input[1] || weight[1] != 1 ||
      weight[2] < 1) {
    return InvalidArgumentError(
        "found input {} and weight {}, expected [batch,channels,length] and [channels,1,k]",
        input.ToString(), weight.ToString());
  }
  if (context.has_input(kBias) && context.input(kBias).shape() != Shape{input[1]}) {
    return InvalidArgumentError("found bias {}, expected [{}]",
                                context.input(kBias).shape().ToString(), input[1]);
  }
  KHEYA_ASSIGN_OR_RETURN(const Shape state,
                         Shape::Create(std::array{input[0], input[1], weight[2] - 1}));
  if (context.has_input(kPast) && context.input(kPast).shape() != state) {
    return InvalidArgumentError("found past_state {}, expected {}",
                                context.input(kPast).shape().ToString(), state.ToString());
  }
  return state;
}

Result<bool> Activates(const AttributeReader& attributes) {
  const std::string activation = attributes.String("activation", "none");
  if (activation == "none") return false;
  if (activation == "silu" || activation == "swish") return true;
  return InvalidArgumentError("found activation '{}', expected none, silu or swish", activation);
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Shape state_shape, StateShape(context));
  KHEYA_ASSIGN_OR_RETURN(const bool activates, Activates(context.attributes()));
  const DType dtype = context.input(kInput).dtype();
  const Shape shape = context.input(kInput).shape();
  const kernels::CausalConvParams params = {shape[0], shape[1], shape[2],
                                            context.input(kWeight).shape()[2]};
  std::array<Tensor, 4> inputs;
  for (const Input input : {kInput, kWeight, kBias, kPast}) {
    KHEYA_ASSIGN_OR_RETURN(inputs[input], WideInput(context, input));
  }
  KHEYA_ASSIGN_OR_RETURN(WideOutput output, WideOutput::Create(context, 0, dtype, shape));
  MutableTensorView present = {DType::kFloat32, state_shape, nullptr};
  std::optional<WideOutput> state;
  if (context.wants_output(1)) {
    KHEYA_ASSIGN_OR_RETURN(state, WideOutput::Create(context, 1, dtype, state_shape));
    present = state->view();
  }
  kernels::CausalConv(params, inputs[kInput].view(), inputs[kWeight].view(), inputs[kBias].view(),
                      inputs[kPast].view(), output.view(), present);
  if (activates) {
    const TensorView y = {DType::kFloat32, shape, output.view().data};
    KHEYA_RETURN_IF_ERROR(kernels::MapReal(y, output.view(), kernels::SwishFn{1.0f}));
  }
  KHEYA_RETURN_IF_ERROR(output.Finish());
  return state ? state->Finish() : OkStatus();
}

}  // namespace

extern const OpDef kCausalConvWithStateOp;
const OpDef kCausalConvWithStateOp = {.domain = "",
                                      .name = "CausalConvWithState",
                                      .category = "attention",
                                      .inputs = kInputs,
                                      .outputs = kOutputs,
                                      .attributes = kAttributes,
                                      .infer = Infer,
                                      .evaluate = Evaluate};

}  // namespace kheya
