#include <algorithm>

#include "kernels/reference/numeric_dispatch.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = types::kNumeric | types::kBool;
constexpr ParamDef kInputs[] = {{"input", kTypes}};
constexpr ParamDef kOutputs[] = {{"output", kTypes}};
constexpr AttributeDef kAttributes[] = {{"dtype", AttributeKind::kInt}, {"k", AttributeKind::kInt}};

Result<DType> OutputType(const AttributeReader& attributes, DType input) {
  if (!attributes.Has("dtype")) return input;
  const int64_t number = attributes.Int("dtype", 0);
  const std::optional<DType> dtype = DTypeFromOnnx(number);
  if (!dtype) return InvalidArgumentError("found dtype {}, which is no element type", number);
  return *dtype;
}

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(DType dtype, OutputType(context.attributes(), context.input_dtype(0)));
  return context.SetOutput(0, dtype, ShapeOrNull(context, 0));
}

Status Evaluate(EvalContext& context) {
  const Shape& shape = context.input(0).shape();
  if (shape.rank() != 2) {
    return InvalidArgumentError("found input {}, expected a matrix", shape.ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(DType dtype, OutputType(context.attributes(), context.input(0).dtype()));
  const int64_t k = std::clamp(context.attributes().Int("k", 0), -shape[0], shape[1]);
  Status status;
  KHEYA_RETURN_IF_ERROR(kernels::CallWithNumericType(dtype, [&]<typename T>(T) {
    Result<MutableTensorView> out = context.Output(0, dtype, shape);
    if (!out.ok()) {
      status = out.status();
      return;
    }
    std::ranges::fill(out->template as<T>(), T{});
    for (int64_t row = std::max<int64_t>(0, -k); row < shape[0] && row + k < shape[1]; ++row) {
      out->template as<T>()[row * shape[1] + row + k] = T(1);
    }
  }));
  return status;
}

}  // namespace

extern const OpDef kEyeLikeOp;
const OpDef kEyeLikeOp = {.domain = "",
                          .name = "EyeLike",
                          .category = "shape",
                          .inputs = kInputs,
                          .outputs = kOutputs,
                          .attributes = kAttributes,
                          .infer = Infer,
                          .evaluate = Evaluate};

}  // namespace kheya
