#include <cstring>

#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = types::kEvery & ~types::kString;
constexpr ParamDef kInputs[] = {{"input", kTypes}};
constexpr ParamDef kOutputs[] = {{"output", kTypes}};
constexpr AttributeDef kAttributes[] = {{"to", AttributeKind::kInt, true}};

Result<DType> TargetType(const AttributeReader& attributes, DType from) {
  const int64_t number = attributes.Int("to", 0);
  const std::optional<DType> dtype = DTypeFromOnnx(number);
  if (!dtype || *dtype == DType::kString) {
    return InvalidArgumentError("found element type number {} in 'to'", number);
  }
  if (from != DType::kUndefined && GetDTypeInfo(from).bits != GetDTypeInfo(*dtype).bits) {
    return InvalidArgumentError("found {} as {}, expected types of one size", DTypeName(from),
                                DTypeName(*dtype));
  }
  return *dtype;
}

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const DType dtype,
                         TargetType(context.attributes(), context.input_dtype(0)));
  return InferSameShape(context, dtype);
}

Status Evaluate(EvalContext& context) {
  const Tensor& input = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(const DType dtype, TargetType(context.attributes(), input.dtype()));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out, context.Output(0, dtype, input.shape()));
  if (input.num_bytes() > 0) std::memcpy(out.data, input.bytes().data(), input.num_bytes());
  if (dtype != DType::kBool) return OkStatus();
  for (uint8_t& byte : std::span(static_cast<uint8_t*>(out.data), out.num_bytes())) {
    byte = byte != 0 ? 1 : 0;  // a bool holds nothing else
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kBitCastOp;
const OpDef kBitCastOp = {.domain = "",
                          .name = "BitCast",
                          .category = "types",
                          .inputs = kInputs,
                          .outputs = kOutputs,
                          .attributes = kAttributes,
                          .infer = Infer,
                          .evaluate = Evaluate};

}  // namespace kheya
