#include "kernels/reference/hash.h"
#include "ops/infer_util.h"
#include "ops/microsoft/microsoft_op.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = MaskOf({DType::kUint32, DType::kInt32, DType::kUint64, DType::kInt64,
                                    DType::kFloat32, DType::kFloat64, DType::kString});
constexpr ParamDef kInputs[] = {{"X", kTypes}};
constexpr ParamDef kOutputs[] = {{"Y", MaskOf({DType::kUint32, DType::kInt32})}};
constexpr AttributeDef kAttributes[] = {{"positive", AttributeKind::kInt},
                                        {"seed", AttributeKind::kInt}};

DType HashType(const AttributeReader& attributes) {
  return attributes.Int("positive", 1) != 0 ? DType::kUint32 : DType::kInt32;
}

Status Infer(InferContext& context) {
  return InferSameShape(context, HashType(context.attributes()));
}

Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y,
                         context.Output(0, HashType(context.attributes()), x.shape()));
  const auto seed = static_cast<uint32_t>(context.attributes().Int("seed", 0));
  auto* hashes = static_cast<uint32_t*>(y.data);
  if (x.dtype() == DType::kString) {
    for (const std::string& text : x.data<std::string>()) {
      *hashes++ = kernels::MurmurHash3(std::as_bytes(std::span(text)), seed);
    }
    return OkStatus();
  }
  const auto size = static_cast<size_t>(GetDTypeInfo(x.dtype()).bits / 8);
  for (size_t at = 0; at < x.num_bytes(); at += size) {
    *hashes++ = kernels::MurmurHash3(x.bytes().subspan(at, size), seed);
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kMurmurHash3Op;
const OpDef kMurmurHash3Op = {.domain = kMicrosoftDomain,
                              .name = "MurmurHash3",
                              .category = "text",
                              .inputs = kInputs,
                              .outputs = kOutputs,
                              .attributes = kAttributes,
                              .infer = Infer,
                              .evaluate = Evaluate};

}  // namespace kheya
