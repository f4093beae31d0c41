#include <array>

#include "base/checked_math.h"
#include "kernels/reference/matmul.h"
#include "ops/axes.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr TypeMask kTypes =
    types::kFloat | MaskOf({DType::kInt32, DType::kInt64, DType::kUint32, DType::kUint64});
constexpr ParamDef kInputs[] = {
    {"A", kTypes, 'T'}, {"B", kTypes, 'T'}, {"C", kTypes, 'T', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"Y", kTypes, 'T'}};
constexpr AttributeDef kAttributes[] = {{"alpha", AttributeKind::kFloat},
                                        {"beta", AttributeKind::kFloat},
                                        {"transA", AttributeKind::kInt},
                                        {"transB", AttributeKind::kInt}};

kernels::GemmParams ReadParams(const AttributeReader& attributes) {
  return {.trans_a = attributes.Int("transA", 0) != 0,
          .trans_b = attributes.Int("transB", 0) != 0,
          .alpha = attributes.Float("alpha", 1.0f),
          .beta = attributes.Float("beta", 1.0f)};
}

Status Infer(InferContext& context) {
  const kernels::GemmParams params = ReadParams(context.attributes());
  const SymbolicShape* a = context.input_shape(0);
  const SymbolicShape* b = context.input_shape(1);
  SymbolicShape shape = UnknownDims(2);
  if ((a != nullptr && a->size() != 2) || (b != nullptr && b->size() != 2)) {
    return InvalidArgumentError("found shapes {} and {}, expected two matrices",
                                a == nullptr ? "?" : ToString(*a),
                                b == nullptr ? "?" : ToString(*b));
  }
  if (a != nullptr) shape[0] = (*a)[params.trans_a ? 1 : 0];
  if (b != nullptr) shape[1] = (*b)[params.trans_b ? 0 : 1];
  if (a != nullptr && b != nullptr) {
    const Dim& a_inner = (*a)[params.trans_a ? 0 : 1];
    const Dim& b_inner = (*b)[params.trans_b ? 1 : 0];
    if (a_inner.known() && b_inner.known() && a_inner.value() != b_inner.value()) {
      return InvalidArgumentError("found inner sizes {} of {} and {} of {}, expected equal ones",
                                  a_inner.value(), ToString(*a), b_inner.value(), ToString(*b));
    }
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Status CheckAddend(const Tensor& c, const Shape& y) {
  if (!c.defined()) return OkStatus();
  const Result<Shape> both = BroadcastShapes(c.shape(), y);
  if (both.ok() && *both == y) return OkStatus();
  return InvalidArgumentError("found C of shape {}, expected one that broadcasts to {}",
                              c.shape().ToString(), y.ToString());
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(Tensor a, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(Tensor b, WideInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(Tensor c, WideInput(context, 2));
  const kernels::GemmParams params = ReadParams(context.attributes());
  KHEYA_ASSIGN_OR_RETURN(kernels::GemmSizes sizes,
                         kernels::GemmSizesOf(params, a.shape(), b.shape()));
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(std::array{sizes.m, sizes.n}));
  KHEYA_RETURN_IF_ERROR(CheckAddend(c, shape));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  KHEYA_RETURN_IF_ERROR(kernels::Gemm(params, a.view(), b.view(), c.view(), y.view()));
  return y.Finish();
}

std::optional<int64_t> Macs(const Graph& graph, const Node& node) {
  const std::optional<Shape> a = graph.value(node.inputs[0]).type.KnownShape();
  const std::optional<Shape> b = graph.value(node.inputs[1]).type.KnownShape();
  if (!a || !b) return std::nullopt;
  const auto sizes = kernels::GemmSizesOf({.trans_a = AttributeReader(node).Int("transA", 0) != 0,
                                           .trans_b = AttributeReader(node).Int("transB", 0) != 0},
                                          *a, *b);
  int64_t macs = 0;
  if (!sizes.ok() || !CheckedMul(sizes->m, sizes->n, &macs) || !CheckedMul(macs, sizes->k, &macs)) {
    return std::nullopt;
  }
  return macs;
}

}  // namespace

extern const OpDef kGemmOp;
const OpDef kGemmOp = {.domain = "",
                       .name = "Gemm",
                       .category = "linear algebra",
                       .inputs = kInputs,
                       .outputs = kOutputs,
                       .attributes = kAttributes,
                       .infer = Infer,
                       .evaluate = Evaluate,
                       .macs = Macs};

}  // namespace kheya
