// The reductions with axes as an input: ReduceSum, ReduceMean and so on.
#include "kernels/reference/reduce.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

using kernels::Reduction;

constexpr TypeMask kSums =
    types::kFloat | MaskOf({DType::kInt32, DType::kInt64, DType::kUint32, DType::kUint64});
constexpr TypeMask kExtremes = kSums | MaskOf({DType::kInt8, DType::kUint8, DType::kBool});
constexpr ParamDef kSumInputs[] = {{"data", kSums, 'T'},
                                   {"axes", types::kInt64, '\0', Presence::kOptional}};
constexpr ParamDef kSumOutputs[] = {{"reduced", kSums, 'T'}};
constexpr ParamDef kExtremeInputs[] = {{"data", kExtremes, 'T'},
                                       {"axes", types::kInt64, '\0', Presence::kOptional}};
constexpr ParamDef kExtremeOutputs[] = {{"reduced", kExtremes, 'T'}};
constexpr AttributeDef kAttributes[] = {{"keepdims", AttributeKind::kInt},
                                        {"noop_with_empty_axes", AttributeKind::kInt}};

// True for each axis that is reduced; no axes given means all or, with noop_with_empty_axes, none.
Result<std::vector<bool>> ReducedAxes(const AttributeReader& attributes,
                                      std::span<const int64_t> axes, int rank) {
  const bool all = axes.empty() && attributes.Int("noop_with_empty_axes", 0) == 0;
  std::vector<bool> reduced(static_cast<size_t>(rank), all);
  KHEYA_ASSIGN_OR_RETURN(std::vector<int> normalized, NormalizeAxes(axes, rank));
  for (int axis : normalized) reduced[axis] = true;
  return reduced;
}

// The dimensions of the result.
template <typename D>
std::vector<D> ReducedDims(const AttributeReader& attributes, std::span<const D> dims,
                           const std::vector<bool>& reduced) {
  const bool keep = attributes.Int("keepdims", 1) != 0;
  std::vector<D> result;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (!reduced[axis]) result.push_back(dims[axis]);
    if (reduced[axis] && keep) result.push_back(D(1));
  }
  return result;
}

Status InferShape(InferContext& context) {
  const DType dtype = context.input_dtype(0);
  const SymbolicShape* data = context.input_shape(0);
  if (data == nullptr) return context.SetOutput(0, dtype, std::nullopt);
  const int rank = static_cast<int>(data->size());
  std::optional<std::vector<int64_t>> axes = std::vector<int64_t>();
  if (context.has_input(1)) axes = KnownElements(context, 1);
  const AttributeReader attributes = context.attributes();
  if (!axes) {
    const bool keep = attributes.Int("keepdims", 1) != 0;
    return context.SetOutput(0, dtype, keep ? std::optional(UnknownDims(rank)) : std::nullopt);
  }
  KHEYA_ASSIGN_OR_RETURN(std::vector<bool> reduced, ReducedAxes(attributes, *axes, rank));
  return context.SetOutput(0, dtype, ReducedDims<Dim>(attributes, *data, reduced));
}

// The one element that a list is reduced to, where its elements are known or sums of symbols.
template <Dim (*function)(const Dim&, const Dim&)>
Status InferFold(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(InferShape(context));
  const std::optional<std::vector<Dim>> elements = context.input_elements(0);
  const DType dtype = context.input_dtype(0);
  if (!elements || elements->empty() || context.input_shape(0)->empty()) return OkStatus();
  if (dtype != DType::kInt64 || context.attributes().Int("noop_with_empty_axes", 0) != 0) {
    return OkStatus();
  }
  context.SetOutputElements(
      0, {std::accumulate(elements->begin() + 1, elements->end(), elements->front(), function)});
  return OkStatus();
}

Dim Sum(const Dim& a, const Dim& b) { return a + b; }
Dim Product(const Dim& a, const Dim& b) { return a * b; }
Dim Larger(const Dim& a, const Dim& b) {
  return a.known() && b.known() ? Dim(std::max(a.value(), b.value())) : Dim();
}
Dim Smaller(const Dim& a, const Dim& b) {
  return a.known() && b.known() ? Dim(std::min(a.value(), b.value())) : Dim();
}

// x with the reduced axes moved behind the others, unless they already stand together.
struct Rows {
  kernels::ReduceRows rows;
  Tensor x;
};

// [first, last) when the reduced axes (those of size 1 do not matter) stand together.
std::optional<std::pair<int, int>> ReducedRange(const Shape& shape,
                                                const std::vector<bool>& reduced) {
  int first = shape.rank(), last = shape.rank();
  for (int axis = shape.rank(); axis-- > 0;) {
    if (!reduced[axis] || shape[axis] == 1) continue;
    if (first == shape.rank()) last = axis + 1;
    first = axis;
  }
  for (int axis = first; axis < last; ++axis) {
    if (!reduced[axis] && shape[axis] != 1) return std::nullopt;
  }
  return std::pair(first, last);
}

Result<Tensor> MoveReducedLast(EvalContext& context, const Tensor& x,
                               const std::vector<bool>& reduced) {
  const auto strides = StridesOf(x.shape());
  kernels::StridedRead read;
  for (bool last : {false, true}) {
    for (int axis = 0; axis < x.shape().rank(); ++axis) {
      if (reduced[axis] != last) continue;
      read.dims.push_back(x.shape()[axis]);
      read.strides.push_back(strides[axis]);
    }
  }
  KHEYA_ASSIGN_OR_RETURN(Shape shape, Shape::Create(read.dims));
  KHEYA_ASSIGN_OR_RETURN(Tensor moved, Tensor::Allocate(x.dtype(), shape, context.budget()));
  KHEYA_RETURN_IF_ERROR(kernels::CopyStrided(read, x.view(), moved.mutable_view()));
  return moved;
}

Result<Rows> MakeRows(EvalContext& context, const std::vector<bool>& reduced) {
  const Tensor& x = context.input(0);
  const Shape& shape = x.shape();
  if (const auto range = ReducedRange(shape, reduced)) {
    const auto [first, last] = *range;
    return Rows{
        {shape.Product(0, first), shape.Product(first, last), shape.Product(last, shape.rank())},
        x};
  }
  Rows rows;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    (reduced[axis] ? rows.rows.count : rows.rows.outer) *= shape[axis];
  }
  KHEYA_ASSIGN_OR_RETURN(rows.x, MoveReducedLast(context, x, reduced));
  return rows;
}

template <Reduction reduction>
Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  std::vector<int64_t> axes;
  if (context.has_input(1)) {
    KHEYA_ASSIGN_OR_RETURN(axes, IntListInput(context, 1));
  }
  const AttributeReader attributes = context.attributes();
  KHEYA_ASSIGN_OR_RETURN(std::vector<bool> reduced,
                         ReducedAxes(attributes, axes, x.shape().rank()));
  KHEYA_ASSIGN_OR_RETURN(
      Shape shape, Shape::Create(ReducedDims<int64_t>(attributes, x.shape().dims(), reduced)));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView y, context.Output(0, x.dtype(), shape));
  KHEYA_ASSIGN_OR_RETURN(Rows rows, MakeRows(context, reduced));
  return kernels::Reduce(reduction, rows.rows, rows.x.view(), y);
}

template <Reduction reduction>
constexpr OpDef Op(const char* name, Status (*infer)(InferContext&) = InferShape) {
  const bool extreme = reduction == Reduction::kMax || reduction == Reduction::kMin;
  return {.domain = "",
          .name = name,
          .category = "reduction",
          .inputs = extreme ? kExtremeInputs : kSumInputs,
          .outputs = extreme ? kExtremeOutputs : kSumOutputs,
          .attributes = kAttributes,
          .infer = infer,
          .evaluate = Evaluate<reduction>};
}

}  // namespace

extern const OpDef kReduceL1Op;
const OpDef kReduceL1Op = Op<Reduction::kL1>("ReduceL1");
extern const OpDef kReduceL2Op;
const OpDef kReduceL2Op = Op<Reduction::kL2>("ReduceL2");
extern const OpDef kReduceLogSumOp;
const OpDef kReduceLogSumOp = Op<Reduction::kLogSum>("ReduceLogSum");
extern const OpDef kReduceLogSumExpOp;
const OpDef kReduceLogSumExpOp = Op<Reduction::kLogSumExp>("ReduceLogSumExp");
extern const OpDef kReduceMaxOp;
const OpDef kReduceMaxOp = Op<Reduction::kMax>("ReduceMax", InferFold<Larger>);
extern const OpDef kReduceMeanOp;
const OpDef kReduceMeanOp = Op<Reduction::kMean>("ReduceMean");
extern const OpDef kReduceMinOp;
const OpDef kReduceMinOp = Op<Reduction::kMin>("ReduceMin", InferFold<Smaller>);
extern const OpDef kReduceProdOp;
const OpDef kReduceProdOp = Op<Reduction::kProd>("ReduceProd", InferFold<Product>);
extern const OpDef kReduceSumOp;
const OpDef kReduceSumOp = Op<Reduction::kSum>("ReduceSum", InferFold<Sum>);
extern const OpDef kReduceSumSquareOp;
const OpDef kReduceSumSquareOp = Op<Reduction::kSumSquare>("ReduceSumSquare");

}  // namespace kheya
