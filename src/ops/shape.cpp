#include <algorithm>
#include <vector>

#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"data", types::kEvery}};
constexpr ParamDef kOutputs[] = {{"shape", types::kInt64}};
constexpr AttributeDef kAttributes[] = {{"end", AttributeKind::kInt},
                                        {"start", AttributeKind::kInt}};

// The part of the shape that `start` and `end` ask for: [first, last) with first <= last.
struct Range {
  int64_t first;
  int64_t last;
};

Range ReadRange(const AttributeReader& attributes, int64_t rank) {
  const auto clamp = [rank](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t first = clamp(attributes.Int("start", 0));
  const int64_t last = clamp(attributes.Int("end", rank));
  return {first, std::max(first, last)};
}

Status Infer(InferContext& context) {
  const SymbolicShape* data = context.input_shape(0);
  if (data == nullptr) return context.SetOutput(0, DType::kInt64, UnknownDims(1));
  const Range range = ReadRange(context.attributes(), static_cast<int64_t>(data->size()));
  std::vector<Dim> elements(data->begin() + range.first, data->begin() + range.last);
  KHEYA_RETURN_IF_ERROR(
      context.SetOutput(0, DType::kInt64, SymbolicShape{Dim(range.last - range.first)}));
  context.SetOutputElements(0, std::move(elements));
  return OkStatus();
}

Status Evaluate(EvalContext& context) {
  const Shape& data = context.input(0).shape();
  const Range range = ReadRange(context.attributes(), data.rank());
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out,
                         context.Output(0, DType::kInt64, Shape{range.last - range.first}));
  std::copy(data.begin() + range.first, data.begin() + range.last, out.as<int64_t>().begin());
  return OkStatus();
}

}  // namespace

extern const OpDef kShapeOp;
const OpDef kShapeOp = {.domain = "",
                        .name = "Shape",
                        .category = "shape",
                        .inputs = kInputs,
                        .outputs = kOutputs,
                        .attributes = kAttributes,
                        .infer = Infer,
                        .evaluate = Evaluate};

}  // namespace kheya
