// Optional, OptionalGetElement and OptionalHasElement. A value that is there stands for itself.
#include <utility>

#include "ops/op.h"

namespace kheya {
namespace {

using Kind = ValueType::Kind;

constexpr ParamDef kInputs[] = {{"input", types::kAny, '\0', Presence::kOptional}};
constexpr ParamDef kGetInputs[] = {{"input", types::kAny}};
constexpr ParamDef kOutputs[] = {{"output", types::kAny}};
constexpr ParamDef kHasOutputs[] = {{"output", types::kBool}};
constexpr AttributeDef kAttributes[] = {{"type", AttributeKind::kType}};

Status InferOptional(InferContext& context) {
  if (context.has_input(0)) {
    return context.SetOutputType(0, ValueType::OfOptional(context.input_type(0)));
  }
  const Attribute* attribute = context.node().FindAttribute("type");
  const auto* type = attribute != nullptr ? std::get_if<ValueType>(&attribute->value) : nullptr;
  if (type == nullptr) return InvalidArgumentError("found neither an input nor 'type'");
  return context.SetOutputType(0, ValueType::OfOptional(*type));
}

Status EvaluateOptional(EvalContext& context) {
  return context.SetOutput(0, context.input_value(0));
}

Status InferGet(InferContext& context) {
  const ValueType& type = context.input_type(0);
  if (type.kind != Kind::kOptional) return context.SetOutputType(0, type);
  return context.SetOutputType(0, type.element ? *type.element : ValueType());
}

Status EvaluateGet(EvalContext& context) {
  if (!context.has_input(0)) return InvalidArgumentError("found an optional without a value");
  return context.SetOutput(0, context.input_value(0));
}

Status InferHas(InferContext& context) {
  return context.SetOutput(0, DType::kBool, SymbolicShape());
}

Status EvaluateHas(EvalContext& context) {
  return context.SetOutput(0, Tensor::Scalar(context.has_input(0)));
}

constexpr OpDef Op(const char* name, std::span<const ParamDef> inputs,
                   std::span<const ParamDef> outputs, std::span<const AttributeDef> attributes,
                   Status (*infer)(InferContext&), Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "sequences and optionals",
          .inputs = inputs,
          .outputs = outputs,
          .attributes = attributes,
          .infer = infer,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kOptionalOp;
const OpDef kOptionalOp =
    Op("Optional", kInputs, kOutputs, kAttributes, InferOptional, EvaluateOptional);
extern const OpDef kOptionalGetElementOp;
const OpDef kOptionalGetElementOp =
    Op("OptionalGetElement", kGetInputs, kOutputs, {}, InferGet, EvaluateGet);
extern const OpDef kOptionalHasElementOp;
const OpDef kOptionalHasElementOp =
    Op("OptionalHasElement", kInputs, kHasOutputs, {}, InferHas, EvaluateHas);

}  // namespace kheya
