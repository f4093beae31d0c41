#include "kernels/reference/broadcast.h"
#include "kernels/reference/movement.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {
    {"condition", types::kBool}, {"X", types::kEvery, 'T'}, {"Y", types::kEvery, 'T'}};
constexpr ParamDef kOutputs[] = {{"output", types::kEvery, 'T'}};

Status Infer(InferContext& context) {
  KHEYA_RETURN_IF_ERROR(InferBroadcast(context, context.input_dtype(1)));
  PropagateTernary(context, [](const Dim& condition, const Dim& x, const Dim& y) {
    if (condition.known()) return condition.value() != 0 ? x : y;
    return x == y ? x : Dim();
  });
  return OkStatus();
}

template <typename T>
void Select(const TensorView& condition, const TensorView& x, const TensorView& y,
            const MutableTensorView& out) {
  const kernels::Broadcast loop(out.shape, {&condition.shape, &x.shape, &y.shape});
  const bool* which = static_cast<const bool*>(condition.data);
  const T* first = static_cast<const T*>(x.data);
  const T* second = static_cast<const T*>(y.data);
  T* to = static_cast<T*>(out.data);
  loop.ForEachRow([&](int64_t at, std::span<const int64_t> offsets, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      to[at + i] = which[offsets[0] + i * loop.row_stride(0)]
                       ? first[offsets[1] + i * loop.row_stride(1)]
                       : second[offsets[2] + i * loop.row_stride(2)];
    }
  });
}

Status Evaluate(EvalContext& context) {
  const Tensor& condition = context.input(0);
  const Tensor& x = context.input(1);
  const Tensor& y = context.input(2);
  KHEYA_ASSIGN_OR_RETURN(Shape values, BroadcastShapes(x.shape(), y.shape()));
  KHEYA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(condition.shape(), values));
  KHEYA_ASSIGN_OR_RETURN(MutableTensorView out, context.Output(0, x.dtype(), shape));
  return kernels::CallWithElement(x.dtype(), [&]<typename T>(const T&) {
    Select<T>(condition.view(), x.view(), y.view(), out);
  });
}

}  // namespace

extern const OpDef kWhereOp;
const OpDef kWhereOp = {.domain = "",
                        .name = "Where",
                        .category = "comparison and logic",
                        .inputs = kInputs,
                        .outputs = kOutputs,
                        .attributes = {},
                        .infer = Infer,
                        .evaluate = Evaluate};

}  // namespace kheya
