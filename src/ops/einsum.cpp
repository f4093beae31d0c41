// Einsum: sums of products over named axes. Every combination of indices is visited, which is the
// definition; accumulates in double for float types, in the element type for integers.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "base/checked_math.h"
#include "kernels/reference/numeric_dispatch.h"
#include "ops/axes.h"
#include "ops/einsum_equation.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"Inputs", types::kNumeric, 'T', Presence::kVariadic}};
constexpr ParamDef kOutputs[] = {{"Output", types::kNumeric, 'T'}};
constexpr AttributeDef kAttributes[] = {{"equation", AttributeKind::kString, true}};

Status Infer(InferContext& context) {
  const DType dtype = context.input_dtype(0);
  std::vector<SymbolicShape> shapes;
  for (int i = 0; i < context.num_inputs(); ++i) {
    const SymbolicShape* shape = context.input_shape(i);
    if (shape == nullptr) return context.SetOutput(0, dtype, std::nullopt);
    shapes.push_back(*shape);
  }
  std::vector<int> ranks;
  for (const SymbolicShape& shape : shapes) ranks.push_back(static_cast<int>(shape.size()));
  KHEYA_ASSIGN_OR_RETURN(EinsumEquation equation,
                         ParseEinsum(context.attributes().String("equation", ""), ranks));
  KHEYA_ASSIGN_OR_RETURN(std::vector<Dim> sizes, EinsumSizes(equation, shapes));
  SymbolicShape output;
  for (int axis : equation.output) output.push_back(sizes[axis]);
  return context.SetOutput(0, dtype, std::move(output));
}

// The loops: sizes of the axes, output axes first, and for each operand its stride along each.
struct Loops {
  std::vector<int64_t> sizes;
  int64_t inner = 1;  // product of the sizes of the summed axes
  std::vector<std::vector<int64_t>> strides;
  Shape output;
};

Result<Loops> MakeLoops(const EinsumEquation& equation, const std::vector<Tensor>& inputs) {
  std::vector<SymbolicShape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(ToSymbolic(input.shape()));
  KHEYA_ASSIGN_OR_RETURN(std::vector<Dim> dims, EinsumSizes(equation, shapes));
  Loops loops;
  std::vector<int> order = equation.output;
  std::vector<int64_t> output_dims;
  for (int axis : equation.output) output_dims.push_back(dims[axis].value());
  KHEYA_ASSIGN_OR_RETURN(loops.output, Shape::Create(output_dims));
  for (int axis = 0; axis < equation.num_axes; ++axis) {
    if (std::find(order.begin(), order.end(), axis) != order.end()) continue;
    order.push_back(axis);
    if (!CheckedMul(loops.inner, dims[axis].value(), &loops.inner)) {
      return InvalidArgumentError("found summed axes whose sizes overflow");
    }
  }
  for (int axis : order) loops.sizes.push_back(dims[axis].value());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto strides = StridesOf(inputs[i].shape());
    std::vector<int64_t> by_axis(order.size(), 0);
    for (size_t a = 0; a < order.size(); ++a) {
      for (size_t d = 0; d < equation.operands[i].size(); ++d) {
        const bool broadcast = inputs[i].shape()[d] == 1;
        if (equation.operands[i][d] == order[a] && !broadcast) by_axis[a] += strides[d];
      }
    }
    loops.strides.push_back(std::move(by_axis));
  }
  return loops;
}

// Adds the products of all combinations of axes from `axis` on.
template <typename T, typename Sum>
Sum SumProducts(const Loops& loops, size_t axis, const std::vector<const T*>& at) {
  if (axis == loops.sizes.size()) {
    Sum product = 1;
    for (const T* element : at) product *= static_cast<Sum>(*element);
    return product;
  }
  Sum sum = 0;
  std::vector<const T*> moved = at;
  for (int64_t i = 0; i < loops.sizes[axis]; ++i) {
    sum += SumProducts<T, Sum>(loops, axis + 1, moved);
    for (size_t k = 0; k < moved.size(); ++k) moved[k] += loops.strides[k][axis];
  }
  return sum;
}

template <typename T, typename Sum>
void EvaluateTyped(const Loops& loops, const std::vector<Tensor>& inputs,
                   const MutableTensorView& out) {
  const size_t outer = static_cast<size_t>(loops.output.rank());
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    std::vector<const T*> at;
    for (size_t k = 0; k < inputs.size(); ++k) {
      int64_t rest = i, offset = 0;
      for (size_t axis = outer; axis-- > 0;) {
        offset += rest % loops.sizes[axis] * loops.strides[k][axis];
        rest /= loops.sizes[axis];
      }
      at.push_back(inputs[k].data<T>().data() + offset);
    }
    out.as<T>()[i] =
        loops.inner == 0 ? T{0} : static_cast<T>(SumProducts<T, Sum>(loops, outer, at));
  }
}

Status Evaluate(EvalContext& context) {
  std::vector<Tensor> inputs;
  std::vector<int> ranks;
  for (int i = 0; i < context.num_inputs(); ++i) {
    KHEYA_ASSIGN_OR_RETURN(Tensor input, WideInput(context, i));
    if (context.input(i).dtype() != context.input(0).dtype()) {
      return InvalidArgumentError("found inputs of types {} and {}, expected equal ones",
                                  DTypeName(context.input(0).dtype()),
                                  DTypeName(context.input(i).dtype()));
    }
    ranks.push_back(input.shape().rank());
    inputs.push_back(std::move(input));
  }
  KHEYA_ASSIGN_OR_RETURN(EinsumEquation equation,
                         ParseEinsum(context.attributes().String("equation", ""), ranks));
  KHEYA_ASSIGN_OR_RETURN(Loops loops, MakeLoops(equation, inputs));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), loops.output));
  KHEYA_RETURN_IF_ERROR(kernels::CallWithNumericType(y.view().dtype, [&]<typename T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      EvaluateTyped<T, double>(loops, inputs, y.view());
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      EvaluateTyped<T, uint64_t>(loops, inputs, y.view());
    }
  }));
  return y.Finish();
}

}  // namespace

extern const OpDef kEinsumOp;
const OpDef kEinsumOp = {.domain = "",
                         .name = "Einsum",
                         .category = "linear algebra",
                         .inputs = kInputs,
                         .outputs = kOutputs,
                         .attributes = kAttributes,
                         .infer = Infer,
                         .evaluate = Evaluate};

}  // namespace kheya
