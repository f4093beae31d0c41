#include "passes/permuted_node.h"

#include <algorithm>
#include <string_view>

#include "kernels/reference/movement.h"
#include "ops/axes.h"
#include "ops/contexts.h"
#include "passes/match.h"

namespace kheya {
namespace {

// How an operator treats the axes of its operands.
enum class Rule : uint8_t {
  kUnary,      // of the first operand; the others are single elements
  kBroadcast,  // elementwise over all operands
  kConcat,     // all operands along `axis`
  kSplit,      // `axis`
  kSoftmax,    // `axis`, -1 by default
  kReduce,     // axes: the second operand
  kSqueeze,
  kPad,
  kSlice,
};

struct Row {
  const char* op;
  Rule rule;
};

constexpr Row kRows[] = {
    {"Abs", Rule::kUnary},
    {"Cast", Rule::kUnary},
    {"Ceil", Rule::kUnary},
    {"Celu", Rule::kUnary},
    {"Clip", Rule::kUnary},
    {"Cos", Rule::kUnary},
    {"Elu", Rule::kUnary},
    {"Erf", Rule::kUnary},
    {"Exp", Rule::kUnary},
    {"Floor", Rule::kUnary},
    {"Gelu", Rule::kUnary},
    {"HardSigmoid", Rule::kUnary},
    {"HardSwish", Rule::kUnary},
    {"LeakyRelu", Rule::kUnary},
    {"Log", Rule::kUnary},
    {"Mish", Rule::kUnary},
    {"Neg", Rule::kUnary},
    {"Not", Rule::kUnary},
    {"Reciprocal", Rule::kUnary},
    {"Relu", Rule::kUnary},
    {"Round", Rule::kUnary},
    {"Selu", Rule::kUnary},
    {"Sigmoid", Rule::kUnary},
    {"Sign", Rule::kUnary},
    {"Sin", Rule::kUnary},
    {"Softplus", Rule::kUnary},
    {"Softsign", Rule::kUnary},
    {"Sqrt", Rule::kUnary},
    {"Swish", Rule::kUnary},
    {"Tanh", Rule::kUnary},
    {"ThresholdedRelu", Rule::kUnary},
    {"Add", Rule::kBroadcast},
    {"And", Rule::kBroadcast},
    {"Div", Rule::kBroadcast},
    {"Equal", Rule::kBroadcast},
    {"Greater", Rule::kBroadcast},
    {"GreaterOrEqual", Rule::kBroadcast},
    {"Less", Rule::kBroadcast},
    {"LessOrEqual", Rule::kBroadcast},
    {"Max", Rule::kBroadcast},
    {"Mean", Rule::kBroadcast},
    {"Min", Rule::kBroadcast},
    {"Mul", Rule::kBroadcast},
    {"Or", Rule::kBroadcast},
    {"PRelu", Rule::kBroadcast},
    {"Pow", Rule::kBroadcast},
    {"Sub", Rule::kBroadcast},
    {"Sum", Rule::kBroadcast},
    {"Where", Rule::kBroadcast},
    {"Concat", Rule::kConcat},
    {"Split", Rule::kSplit},
    {"LogSoftmax", Rule::kSoftmax},
    {"Softmax", Rule::kSoftmax},
    {"ReduceL1", Rule::kReduce},
    {"ReduceL2", Rule::kReduce},
    {"ReduceMax", Rule::kReduce},
    {"ReduceMean", Rule::kReduce},
    {"ReduceMin", Rule::kReduce},
    {"ReduceProd", Rule::kReduce},
    {"ReduceSum", Rule::kReduce},
    {"ReduceSumSquare", Rule::kReduce},
    {"Squeeze", Rule::kSqueeze},
    {"Pad", Rule::kPad},
    {"Slice", Rule::kSlice},
};

// The largest constant operand of which a transposed copy is made.
constexpr uint64_t kMostConstantBytes = 1 << 20;

std::optional<Rule> RuleOf(const Node& node) {
  for (const Row& row : kRows) {
    if (node.op == row.op) return IsOp(node, row.op) ? std::optional(row.rule) : std::nullopt;
  }
  return std::nullopt;
}

// One element, in whatever order its axes are.
bool IsSingle(const Graph& graph, ValueId value, size_t rank) {
  const SymbolicShape* shape = ShapeOf(graph, value);
  return shape != nullptr && shape->size() <= rank &&
         std::all_of(shape->begin(), shape->end(), [](const Dim& dim) { return dim == Dim(1); });
}

bool CanTranspose(const Graph& graph, ValueId value, size_t rank) {
  const Tensor* tensor = graph.Constant(value);
  return tensor != nullptr && tensor->dtype() != DType::kString &&
         static_cast<size_t>(tensor->shape().rank()) <= rank &&
         tensor->num_bytes() <= kMostConstantBytes;
}

std::optional<int64_t> Normalized(int64_t axis, size_t rank) {
  const auto size = static_cast<int64_t>(rank);
  if (axis < -size || axis >= size) return std::nullopt;
  return axis < 0 ? axis + size : axis;
}

std::optional<int64_t> AxisOf(const Node& node, int64_t fallback, size_t rank) {
  return Normalized(AttributeReader(node).Int("axis", fallback), rank);
}

// Constant axes of input `index`, each from 0 on and once.
std::optional<Perm> AxesOf(const Graph& graph, const Node& node, size_t index, size_t rank) {
  const ValueId input = InputOf(node, index);
  std::optional<Perm> axes = input.valid() ? ConstantInts(graph, input) : std::nullopt;
  if (!axes) return std::nullopt;
  for (int64_t& axis : *axes) {
    const std::optional<int64_t> normalized = Normalized(axis, rank);
    if (!normalized) return std::nullopt;
    axis = *normalized;
  }
  Perm sorted = *axes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return std::nullopt;
  return axes;
}

Perm Mapped(const Perm& axes, const Perm& perm) {
  Perm mapped;
  for (int64_t axis : axes) mapped.push_back(perm[axis]);
  return mapped;
}

bool AreLast(const Perm& axes, size_t rank) {
  return std::all_of(axes.begin(), axes.end(), [&](int64_t axis) {
    return axis >= static_cast<int64_t>(rank - axes.size());
  });
}

// The permutation that is left when `axes` (of what was transposed) go.
Perm Without(const Perm& perm, const Perm& axes) {
  const Perm gone = Mapped(axes, perm);
  Perm left;
  for (size_t i = 0; i < perm.size(); ++i) {
    const int64_t axis = perm[i];
    if (std::count(gone.begin(), gone.end(), axis) > 0) continue;
    left.push_back(
        axis - std::count_if(gone.begin(), gone.end(), [&](int64_t each) { return each < axis; }));
  }
  return left;
}

// What becomes of the permutation behind a node over axes; nullopt where that is not to be.
std::optional<Perm> OutputPerm(const Graph& graph, const Node& node, Rule rule, const Perm& perm) {
  const size_t rank = perm.size();
  switch (rule) {
    case Rule::kUnary:
    case Rule::kBroadcast:
      return perm;
    case Rule::kConcat:
    case Rule::kSplit:
      return AxisOf(node, 0, rank) ? std::optional(perm) : std::nullopt;
    case Rule::kSoftmax: {
      // Other axes than the last are slower.
      const std::optional<int64_t> axis = AxisOf(node, -1, rank);
      const auto last = static_cast<int64_t>(rank) - 1;
      return axis && (perm[*axis] == last || *axis != last) ? std::optional(perm) : std::nullopt;
    }
    case Rule::kReduce: {
      const std::optional<Perm> axes = AxesOf(graph, node, 1, rank);
      if (!axes || axes->empty()) return std::nullopt;
      if (AreLast(*axes, rank) && !AreLast(Mapped(*axes, perm), rank)) return std::nullopt;
      return AttributeReader(node).Int("keepdims", 1) != 0 ? perm : Without(perm, *axes);
    }
    case Rule::kSqueeze: {
      const std::optional<Perm> axes = AxesOf(graph, node, 1, rank);
      return axes ? std::optional(Without(perm, *axes)) : std::nullopt;
    }
    case Rule::kPad: {
      const std::optional<Perm> pads = ConstantInts(graph, node.inputs[1]);
      const bool axes = InputOf(node, 3).valid();
      return pads && !axes && pads->size() == 2 * rank ? std::optional(perm) : std::nullopt;
    }
    case Rule::kSlice:
      return AxesOf(graph, node, 3, rank) ? std::optional(perm) : std::nullopt;
  }
  return std::nullopt;
}

// How many of the first inputs are operands that lie as the first one does.
size_t OperandsOf(const Node& node, Rule rule) {
  return rule == Rule::kBroadcast || rule == Rule::kConcat ? node.inputs.size() : 1;
}

// A constant as an operand of the permuted node.
Result<Tensor> Untransposed(const Tensor& tensor, const Perm& perm) {
  const size_t rank = perm.size(), missing = rank - static_cast<size_t>(tensor.shape().rank());
  KHEYA_ASSIGN_OR_RETURN(const Tensor aligned, tensor.Aligned());
  const auto strides = StridesOf(aligned.shape());
  kernels::StridedRead read;
  read.dims.assign(rank, 1);
  read.strides.assign(rank, 0);
  for (size_t i = missing; i < rank; ++i) {
    read.dims[perm[i]] = aligned.shape()[static_cast<int>(i - missing)];
    read.strides[perm[i]] = strides[i - missing];
  }
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(read.dims));
  KHEYA_ASSIGN_OR_RETURN(Tensor made, Tensor::Allocate(aligned.dtype(), shape));
  KHEYA_RETURN_IF_ERROR(kernels::CopyStrided(read, aligned.view(), made.mutable_view()));
  return made;
}

void SetAttribute(NodeSpec& spec, const char* name, int64_t value) {
  std::erase_if(spec.attributes, [&](const Attribute& each) { return each.name == name; });
  spec.attributes.push_back({name, value});
}

// Writes the node's axes as those before the transpose.
void MapAxes(const Graph& graph, Patch& patch, const Node& node, Rule rule, const Perm& perm,
             NodeSpec& spec) {
  const size_t rank = perm.size();
  const auto replace = [&](size_t index, const Perm& values) {
    const std::string& name = graph.value(node.inputs[index]).name;
    spec.inputs[index] = patch.AddConstant(name + "_permuted", MakeInts(values));
  };
  if (rule == Rule::kConcat || rule == Rule::kSplit || rule == Rule::kSoftmax) {
    SetAttribute(spec, "axis", perm[*AxisOf(node, rule == Rule::kSoftmax ? -1 : 0, rank)]);
  } else if (rule == Rule::kReduce || rule == Rule::kSqueeze || rule == Rule::kSlice) {
    const size_t index = rule == Rule::kSlice ? 3 : 1;
    replace(index, Mapped(*AxesOf(graph, node, index, rank), perm));
  } else if (rule == Rule::kPad) {
    const Perm pads = *ConstantInts(graph, node.inputs[1]);
    Perm moved(pads.size());
    for (size_t i = 0; i < rank; ++i) {
      moved[perm[i]] = pads[i];
      moved[rank + perm[i]] = pads[rank + i];
    }
    replace(1, moved);
  }
}

}  // namespace

std::optional<PermutedNode> Permute(const Graph& graph, const Node& node, const PermFinder& perms,
                                    std::string* reason) {
  const std::optional<Rule> rule = RuleOf(node);
  if (!rule) return std::nullopt;
  const size_t operands = OperandsOf(node, *rule);
  const Perm* perm = nullptr;
  for (size_t i = 0; i < operands && perm == nullptr; ++i) {
    if (node.inputs[i].valid()) perm = perms(node.inputs[i]);
  }
  if (perm == nullptr) return std::nullopt;
  for (size_t i = 0; i < operands; ++i) {
    const ValueId operand = node.inputs[i];
    if (!operand.valid()) return std::nullopt;
    const Perm* other = perms(operand);
    if (other != nullptr ? *other == *perm : CanTranspose(graph, operand, perm->size())) continue;
    if (other == nullptr && *rule == Rule::kBroadcast && IsSingle(graph, operand, perm->size())) {
      continue;
    }
    *reason = fmt::format("its operand '{}' is not transposed as another one is",
                          graph.value(operand).name);
    return std::nullopt;
  }
  std::optional<Perm> output = OutputPerm(graph, node, *rule, *perm);
  if (!output) return std::nullopt;
  return PermutedNode{*perm, std::move(*output)};
}

Result<NodeSpec> SpecOfPermuted(const Graph& graph, Patch& patch, const Node& node,
                                const PermutedNode& permuted,
                                const std::function<ValueId(ValueId)>& untransposed) {
  const Rule rule = *RuleOf(node);
  NodeSpec spec{.op = node.op, .name = node.name, .attributes = node.attributes};
  spec.inputs = node.inputs;
  for (size_t i = 0; i < OperandsOf(node, rule); ++i) {
    const ValueId operand = node.inputs[i];
    if (const ValueId before = untransposed(operand); before.valid()) {
      spec.inputs[i] = before;
    } else if (rule == Rule::kConcat || !IsSingle(graph, operand, permuted.input.size())) {
      KHEYA_ASSIGN_OR_RETURN(Tensor made, Untransposed(*graph.Constant(operand), permuted.input));
      spec.inputs[i] = patch.AddConstant(graph.value(operand).name + "_permuted", std::move(made));
    }
  }
  MapAxes(graph, patch, node, rule, permuted.input, spec);
  for (ValueId output : node.outputs) {
    spec.outputs.push_back(output.valid() ? graph.value(output).name : "");
  }
  return spec;
}

}  // namespace kheya
