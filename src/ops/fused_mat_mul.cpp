// kheya.FusedMatMul: y = activation(alpha a b + bias + residual), a and b of rank 2 or more, their
// last two axes swapped where transA or transB say so, leading axes broadcast; bias [columns];
// residual of the shape of y. Attributes of ops/fused_activation.h.
#include <algorithm>

#include "base/checked_math.h"
#include "kernels/reference/matmul.h"
#include "kernels/reference/movement.h"
#include "ops/fused_activation.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"A", types::kFloat, 'T'},
                                {"B", types::kFloat, 'T'},
                                {"bias", types::kFloat, 'T', Presence::kOptional},
                                {"residual", types::kFloat, 'T', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kAttributes[] = {{"transA", AttributeKind::kInt},
                                        {"transB", AttributeKind::kInt},
                                        {"alpha", AttributeKind::kFloat},
                                        {"activation", AttributeKind::kString},
                                        {"activation_params", AttributeKind::kFloats}};

// The operand's shape as the product sees it; nullopt when its rank is unknown.
Result<std::optional<SymbolicShape>> OperandShape(InferContext& context, int index) {
  const SymbolicShape* shape = context.input_shape(index);
  if (shape == nullptr) return std::optional<SymbolicShape>();
  if (shape->size() < 2) {
    return InvalidArgumentError("found operand {} of shape {}, expected rank 2 or more", index,
                                ToString(*shape));
  }
  SymbolicShape seen = *shape;
  if (context.attributes().Int(index == 0 ? "transA" : "transB", 0) != 0) {
    std::swap(seen[seen.size() - 2], seen[seen.size() - 1]);
  }
  return std::optional(std::move(seen));
}

Status Infer(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(CheckActivation(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(const std::optional<SymbolicShape> a, OperandShape(context, 0));
  KHEYA_ASSIGN_OR_RETURN(const std::optional<SymbolicShape> b, OperandShape(context, 1));
  if (!a || !b) return context.SetOutput(0, context.input_dtype(0), std::nullopt);
  const Dim& a_inner = a->back();
  const Dim& b_inner = (*b)[b->size() - 2];
  if (a_inner.known() && b_inner.known() && a_inner.value() != b_inner.value()) {
    return InvalidArgumentError("found inner sizes {} of {} and {} of {}, expected equal ones",
                                a_inner.value(), ToString(*a), b_inner.value(), ToString(*b));
  }
  KHEYA_ASSIGN_OR_RETURN(SymbolicShape shape,
                         BroadcastShapes(SymbolicShape(a->begin(), a->end() - 2),
                                         SymbolicShape(b->begin(), b->end() - 2)));
  shape.push_back((*a)[a->size() - 2]);
  shape.push_back(b->back());
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

// The operand with its last two axes swapped when asked.
Result<Tensor> Operand(EvalContext& context, int index) {
  KHEYA_ASSIGN_OR_RETURN(Tensor wide, WideInput(context, index));
  const int rank = wide.shape().rank();
  if (rank < 2) {
    return InvalidArgumentError("found operand {} of {}, expected rank 2 or more", index,
                                wide.TypeString());
  }
  if (context.attributes().Int(index == 0 ? "transA" : "transB", 0) == 0) return wide;
  const auto strides = StridesOf(wide.shape());
  kernels::StridedRead read;
  read.dims.assign(wide.shape().begin(), wide.shape().end());
  read.strides.assign(strides.begin(), strides.begin() + rank);
  std::swap(read.dims[rank - 2], read.dims[rank - 1]);
  std::swap(read.strides[rank - 2], read.strides[rank - 1]);
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(read.dims));
  KHEYA_ASSIGN_OR_RETURN(Tensor swapped, Tensor::Allocate(wide.dtype(), shape, context.budget()));
  KHEYA_RETURN_IF_ERROR(kernels::CopyStrided(read, wide.view(), swapped.mutable_view()));
  return swapped;
}

template <typename T>
void ScaleAndShift(float alpha, std::span<const T> bias, std::span<T> y) {
  if (alpha != 1.0f) {
    for (T& value : y) value *= static_cast<T>(alpha);
  }
  if (bias.empty()) return;
  for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i % bias.size()];
}

Status ScaleAndAddBias(EvalContext& context, const MutableTensorView& y) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor bias, WideInput(context, 2));
  if (bias.defined() &&
      (bias.shape().rank() != 1 || bias.shape()[0] != y.shape[y.shape.rank() - 1])) {
    return InvalidArgumentError("found a bias of {}, expected one value for each column of {}",
                                bias.TypeString(), y.shape.ToString());
  }
  const float alpha = context.attributes().Float("alpha", 1.0f);
  if (y.dtype == DType::kFloat64) {
    ScaleAndShift(alpha, bias.defined() ? bias.data<double>() : std::span<const double>(),
                  y.as<double>());
  } else {
    ScaleAndShift(alpha, bias.defined() ? bias.data<float>() : std::span<const float>(),
                  y.as<float>());
  }
  return OkStatus();
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor a, Operand(context, 0));
  KHEYA_ASSIGN_OR_RETURN(const Tensor b, Operand(context, 1));
  KHEYA_ASSIGN_OR_RETURN(const Tensor residual, WideInput(context, 3));
  KHEYA_ASSIGN_OR_RETURN(kernels::MatMulShapes shapes,
                         kernels::MatMulShapesOf(a.shape(), b.shape()));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shapes.output));
  KHEYA_RETURN_IF_ERROR(kernels::MatMul(shapes, a.view(), b.view(), y.view()));
  KHEYA_RETURN_IF_ERROR(ScaleAndAddBias(context, y.view()));
  KHEYA_RETURN_IF_ERROR(AddResidual(residual, y.view()));
  KHEYA_RETURN_IF_ERROR(ApplyActivation(context.attributes(), y.view()));
  return y.Finish();
}

std::optional<int64_t> Macs(const Graph& graph, const Node& node) {
  const std::optional<Shape> a = graph.value(node.inputs[0]).type.KnownShape();
  const std::optional<Shape> y = graph.value(node.outputs[0]).type.KnownShape();
  if (!a || !y || a->rank() < 2) return std::nullopt;
  const bool swapped = AttributeReader(node).Int("transA", 0) != 0;
  int64_t macs = 0;
  if (!CheckedMul(y->num_elements(), (*a)[a->rank() - (swapped ? 2 : 1)], &macs)) {
    return std::nullopt;
  }
  return macs;
}

}  // namespace

extern const OpDef kFusedMatMulOp;
const OpDef kFusedMatMulOp = {.domain = kInternalDomain,
                              .name = "FusedMatMul",
                              .category = "fused",
                              .inputs = kInputs,
                              .outputs = kOutputs,
                              .attributes = kAttributes,
                              .infer = Infer,
                              .evaluate = Evaluate,
                              .macs = Macs};

}  // namespace kheya
