// FusedMatMul, TransposeMatMul, FusedGemm and MatMulInteger16.
#include <array>

#include "ops/microsoft/microsoft_op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"A", types::kFloat, 'T'}, {"B", types::kFloat, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kTransposeAttributes[] = {{"alpha", AttributeKind::kFloat},
                                                 {"transA", AttributeKind::kInt},
                                                 {"transB", AttributeKind::kInt}};
constexpr AttributeDef kFusedAttributes[] = {{"alpha", AttributeKind::kFloat},
                                             {"transA", AttributeKind::kInt},
                                             {"transB", AttributeKind::kInt},
                                             {"transBatchA", AttributeKind::kInt},
                                             {"transBatchB", AttributeKind::kInt}};
constexpr TypeMask kGemmTypes =
    types::kFloat | MaskOf({DType::kInt32, DType::kInt64, DType::kUint32, DType::kUint64});
constexpr ParamDef kGemmInputs[] = {
    {"A", kGemmTypes, 'T'}, {"B", kGemmTypes, 'T'}, {"C", kGemmTypes, 'T', Presence::kOptional}};
constexpr ParamDef kGemmOutputs[] = {{"Y", kGemmTypes, 'T'}};
constexpr AttributeDef kGemmAttributes[] = {{"activation", AttributeKind::kString},
                                            {"activation_alpha", AttributeKind::kFloat},
                                            {"activation_beta", AttributeKind::kFloat},
                                            {"activation_gamma", AttributeKind::kFloat},
                                            {"alpha", AttributeKind::kFloat},
                                            {"beta", AttributeKind::kFloat},
                                            {"transA", AttributeKind::kInt},
                                            {"transB", AttributeKind::kInt}};
constexpr TypeMask kShorts = MaskOf({DType::kInt16, DType::kUint16});
constexpr ParamDef kShortInputs[] = {{"A", kShorts}, {"B", kShorts}};
constexpr ParamDef kLongOutputs[] = {{"Y", MaskOf({DType::kInt32, DType::kUint32})}};

// With `batch`, axis 0 becomes the last but one; with `matrix`, the last two are swapped then. An
// operand of rank 1 stays as it is.
ValueId Operand(Expansion& e, int input, bool matrix, bool batch) {
  const int rank = *e.RankOf(input);
  std::vector<int64_t> perm;
  for (int64_t axis = 0; axis < rank; ++axis) perm.push_back(axis);
  if (rank < 2) return e.Wide(input);
  if (batch) {
    perm.erase(perm.begin());
    perm.insert(perm.end() - 1, 0);
  }
  const auto at = static_cast<size_t>(rank);
  if (matrix) std::swap(perm[at - 2], perm[at - 1]);
  return matrix || batch ? e.Transpose(e.Wide(input), std::move(perm)) : e.Wide(input);
}

Status ExpandFusedMatMul(Expansion& e) {
  if (!e.RankOf(0) || !e.RankOf(1)) {
    e.GiveType(0, e.TypeOf(0));
    return OkStatus();
  }
  const AttributeReader attributes = e.attributes();
  const ValueId a =
      Operand(e, 0, attributes.Int("transA", 0) != 0, attributes.Int("transBatchA", 0) != 0);
  const ValueId b =
      Operand(e, 1, attributes.Int("transB", 0) != 0, attributes.Int("transBatchB", 0) != 0);
  ValueId y = e.Call("MatMul", {a, b});
  const float alpha = attributes.Float("alpha", 1.0f);
  if (alpha != 1.0f) y = e.Call("Mul", {y, e.NumberLike(alpha, y)});
  e.Round(0, y, e.TypeOf(0));
  return OkStatus();
}

Status ExpandFusedGemm(Expansion& e) {
  constexpr const char* kCopied[] = {"alpha", "beta", "transA", "transB"};
  const AttributeReader attributes = e.attributes();
  std::vector<float> params;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (attributes.Has(name)) params.push_back(attributes.Float(name, 0));
  }
  const ValueId product = e.Call("Gemm", {e.Wide(0), e.Wide(1), e.Wide(2)}, Copied(e, kCopied));
  KHEYA_ASSIGN_OR_RETURN(const ValueId y,
                         Activated(e, product, attributes.String("activation", ""), params));
  e.Round(0, y, e.TypeOf(0));
  return OkStatus();
}

// uint32 when both are unsigned, else int32; the high bits are lost.
Status ExpandMatMulInteger16(Expansion& e) {
  const bool is_unsigned = e.TypeOf(0) == DType::kUint16 && e.TypeOf(1) == DType::kUint16;
  const DType dtype = is_unsigned ? DType::kUint32 : DType::kInt32;
  const ValueId a = e.Cast(e.In(0), e.TypeOf(0), dtype);
  e.Give(0, e.Call("MatMul", {a, e.Cast(e.In(1), e.TypeOf(1), dtype)}));
  return OkStatus();
}

}  // namespace

extern const OpDef kMicrosoftFusedMatMulOp;
const OpDef kMicrosoftFusedMatMulOp = MicrosoftOp<ExpandFusedMatMul>(
    "FusedMatMul", "linear algebra", kInputs, kOutputs, kFusedAttributes);
extern const OpDef kTransposeMatMulOp;
const OpDef kTransposeMatMulOp = MicrosoftOp<ExpandFusedMatMul>(
    "TransposeMatMul", "linear algebra", kInputs, kOutputs, kTransposeAttributes);
extern const OpDef kFusedGemmOp;
const OpDef kFusedGemmOp = MicrosoftOp<ExpandFusedGemm>("FusedGemm", "linear algebra", kGemmInputs,
                                                        kGemmOutputs, kGemmAttributes);
extern const OpDef kMatMulInteger16Op;
const OpDef kMatMulInteger16Op = MicrosoftOp<ExpandMatMulInteger16>(
    "MatMulInteger16", "linear algebra", kShortInputs, kLongOutputs, {});

}  // namespace kheya
