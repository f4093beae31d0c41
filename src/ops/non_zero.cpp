#include <algorithm>
#include <string>
#include <vector>

#include "kernels/reference/numeric_dispatch.h"
#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"X", types::kAll, 'T'}};
constexpr ParamDef kOutputs[] = {{"Y", types::kInt64}};

Status Infer(InferContext& context) {
  const SymbolicShape* x = context.input_shape(0);
  SymbolicShape shape = UnknownDims(2);
  if (x != nullptr) shape[0] = x->empty() ? 1 : static_cast<int64_t>(x->size());
  return context.SetOutput(0, DType::kInt64, std::move(shape));
}

// Flat indices of the elements that are not zero (strings: not empty).
Result<std::vector<int64_t>> FindNonZero(const Tensor& x) {
  std::vector<int64_t> found;
  if (x.dtype() == DType::kString) {
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      if (!x.data<std::string>()[i].empty()) found.push_back(i);
    }
    return found;
  }
  KHEYA_RETURN_IF_ERROR(kernels::CallWithNumericType(x.dtype(), [&]<typename T>(T) {
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      if (x.data<T>()[i] != T{}) found.push_back(i);
    }
  }));
  return found;
}

Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> found, FindNonZero(x));
  const int rank = std::max(1, x.shape().rank());  // a scalar counts as a list of one
  const int64_t count = static_cast<int64_t>(found.size());
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out,
                         context.Output(0, DType::kInt64, Shape{rank, count}));
  const std::span<int64_t> indices = out.as<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = found[i];
    for (int axis = rank - 1; axis >= 0; --axis) {
      const int64_t size = x.shape().rank() == 0 ? 1 : x.shape()[axis];
      indices[axis * count + i] = rest % size;
      rest /= size;
    }
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kNonZeroOp;
const OpDef kNonZeroOp = {.domain = "",
                          .name = "NonZero",
                          .category = "shape",
                          .inputs = kInputs,
                          .outputs = kOutputs,
                          .attributes = {},
                          .infer = Infer,
                          .evaluate = Evaluate};

}  // namespace kheya
