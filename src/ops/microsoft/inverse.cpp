// Inverse and CDist.
#include "kernels/reference/inverse.h"

#include <vector>

#include "kernels/reference/numeric_dispatch.h"
#include "ops/infer_util.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes = MaskOf({DType::kFloat32, DType::kFloat64, DType::kFloat16});
constexpr ParamDef kInputs[] = {{"X", kTypes, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", kTypes, 'T'}};
constexpr TypeMask kReal = MaskOf({DType::kFloat32, DType::kFloat64});
constexpr ParamDef kDistanceInputs[] = {{"A", kReal, 'T'}, {"B", kReal, 'T'}};
constexpr ParamDef kDistanceOutputs[] = {{"C", kReal, 'T'}};
constexpr AttributeDef kDistanceAttributes[] = {{"metric", AttributeKind::kString}};

template <typename T>
Status InvertAll(EvalContext& context, const Tensor& x, const MutableTensorView& y) {
  if (x.num_elements() == 0) return OkStatus();
  const int64_t size = x.shape()[x.shape().rank() - 1];
  const auto area = static_cast<size_t>(size) * static_cast<size_t>(size);
  std::vector<double> a(area);
  std::vector<double> inverse(area);
  const auto from = x.data<T>();
  for (size_t at = 0; at < from.size(); at += area) {
    KHEYA_RETURN_IF_ERROR(context.CheckAlive());
    for (size_t i = 0; i < area; ++i) a[i] = static_cast<double>(from[at + i]);
    if (!kernels::Invert(size, a, inverse)) {
      return InvalidArgumentError("found a matrix that has no inverse");
    }
    for (size_t i = 0; i < area; ++i) y.as<T>()[at + i] = static_cast<T>(inverse[i]);
  }
  return OkStatus();
}

Status EvaluateInverse(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, WideInput(context, 0));
  const Shape& shape = x.shape();
  const int rank = shape.rank();
  if (rank < 2 || shape[rank - 1] != shape[rank - 2]) {
    return InvalidArgumentError("found X {}, expected square matrices", shape.ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  if (x.dtype() == DType::kFloat64) {
    KHEYA_RETURN_IF_ERROR(InvertAll<double>(context, x, y.view()));
  } else {
    KHEYA_RETURN_IF_ERROR(InvertAll<float>(context, x, y.view()));
  }
  return y.Finish();
}

Status CheckMatrices(const Expansion& e) {
  for (const int input : {0, 1}) {
    if (e.RankOf(input).value_or(2) == 2) continue;
    return InvalidArgumentError("found an operand of shape {}, expected rank 2",
                                ToString(*e.ShapeOf(input)));
  }
  return OkStatus();
}

// Distances of all rows of a from all rows of b.
Status ExpandDistance(Expansion& e) {
  KHEYA_RETURN_IF_ERROR(CheckMatrices(e));
  const std::string metric = e.attributes().String("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean") {
    return UnimplementedError("metric '{}' is not supported", metric);
  }
  const Dim a_size = e.DimOf(0, 1);
  const Dim b_size = e.DimOf(1, 1);
  if (a_size.known() && b_size.known() && a_size.value() != b_size.value()) {
    return InvalidArgumentError("found rows of {} and {} elements", a_size.value(), b_size.value());
  }
  const ValueId difference = e.Call("Sub", {e.Call("Unsqueeze", {e.In(0), e.Ints({1})}),
                                            e.Call("Unsqueeze", {e.In(1), e.Ints({0})})});
  const ValueId sum =
      e.Call("ReduceSumSquare", {difference, e.Ints({2})}, {{"keepdims", int64_t{0}}});
  e.Give(0, metric == "euclidean" ? e.Call("Sqrt", {sum}) : sum);
  return OkStatus();
}

}  // namespace

extern const OpDef kInverseOp;
const OpDef kInverseOp = {.domain = kMicrosoftDomain,
                          .name = "Inverse",
                          .category = "linear algebra",
                          .inputs = kInputs,
                          .outputs = kOutputs,
                          .attributes = {},
                          .infer = InferSameType,
                          .evaluate = EvaluateInverse};
extern const OpDef kCDistOp;
const OpDef kCDistOp = MicrosoftOp<ExpandDistance>("CDist", "linear algebra", kDistanceInputs,
                                                   kDistanceOutputs, kDistanceAttributes);

}  // namespace kheya
