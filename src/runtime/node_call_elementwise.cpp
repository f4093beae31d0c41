// Unary and binary functions.
#include <algorithm>
#include <limits>
#include <string_view>

#include "runtime/node_call_builders.h"

namespace kheya {
namespace {

struct UnaryRow {
  const char* op;
  ElementwiseOp function;
  float alpha = 0;  // defaults of the attributes
  float beta = 0;
};

constexpr UnaryRow kUnary[] = {
    {"Relu", ElementwiseOp::kRelu},
    {"LeakyRelu", ElementwiseOp::kLeakyRelu, 0.01f},
    {"Elu", ElementwiseOp::kElu, 1.0f},
    {"Sigmoid", ElementwiseOp::kSigmoid},
    {"Tanh", ElementwiseOp::kTanh},
    {"Swish", ElementwiseOp::kSilu, 1.0f},
    {"HardSigmoid", ElementwiseOp::kHardSigmoid, 0.2f, 0.5f},
    {"HardSwish", ElementwiseOp::kHardSwish},
    {"Softplus", ElementwiseOp::kSoftplus},
    {"Mish", ElementwiseOp::kMish},
    {"Erf", ElementwiseOp::kErf},
    {"Exp", ElementwiseOp::kExp},
    {"Sqrt", ElementwiseOp::kSqrt},
    {"Reciprocal", ElementwiseOp::kReciprocal},
    {"Neg", ElementwiseOp::kNeg},
    {"Abs", ElementwiseOp::kAbs},
    {"Floor", ElementwiseOp::kFloor},
    {"Ceil", ElementwiseOp::kCeil},
};

std::optional<Elementwise> ReadClip(const NodeShapes& node) {
  constexpr float kLimit = std::numeric_limits<float>::infinity();
  const std::optional<float> low =
      node.input(1).present() ? node.ConstantFloat(1) : std::optional(-kLimit);
  const std::optional<float> high =
      node.input(2).present() ? node.ConstantFloat(2) : std::optional(kLimit);
  if (!low || !high) return std::nullopt;
  return Elementwise{ElementwiseOp::kClip, *low, *high};
}

const UnaryRow* FindUnary(std::string_view op) {
  for (const UnaryRow& row : kUnary) {
    if (op == row.op) return &row;
  }
  return nullptr;
}

std::optional<Elementwise> ReadUnary(const NodeShapes& node) {
  const std::string& op = node.node().op;
  const AttributeReader attributes = node.attributes();
  if (op == "Clip") return ReadClip(node);
  if (op == "Gelu") {
    const bool tanh = attributes.String("approximate", "none") == "tanh";
    return Elementwise{tanh ? ElementwiseOp::kGeluTanh : ElementwiseOp::kGelu};
  }
  const UnaryRow* row = FindUnary(op);
  if (row == nullptr) return std::nullopt;
  return Elementwise{row->function, attributes.Float("alpha", row->alpha),
                     attributes.Float("beta", row->beta)};
}

struct BinaryRow {
  const char* op;
  BinaryOp function;
};

constexpr BinaryRow kBinary[] = {
    {"Add", BinaryOp::kAdd}, {"Sub", BinaryOp::kSub}, {"Mul", BinaryOp::kMul},
    {"Div", BinaryOp::kDiv}, {"Min", BinaryOp::kMin}, {"Max", BinaryOp::kMax},
    {"Sum", BinaryOp::kAdd},
};

// The description of an operand with ones in front, up to the output's rank.
bool PadRank(int rank, TensorDesc* desc) {
  std::vector<int64_t> dims(rank - desc->shape.rank(), 1);
  dims.insert(dims.end(), desc->shape.begin(), desc->shape.end());
  Result<Shape> shape = Shape::Create(dims);
  if (shape.ok()) desc->shape = *shape;
  return shape.ok();
}

}  // namespace

bool IsUnaryCall(std::string_view op) {
  return op == "Clip" || op == "Gelu" || FindUnary(op) != nullptr;
}

std::optional<NodeCall> MakeUnaryCall(const NodeShapes& node) {
  const std::optional<Elementwise> function = ReadUnary(node);
  if (!function || !(node.input(0).shape == node.output(0).shape)) return std::nullopt;
  return node.Call(UnaryParams{*function}, LayoutRule::kFollow, 1);
}

std::optional<NodeCall> MakeBinaryCall(const NodeShapes& node) {
  if (node.num_inputs() != 2 || !node.input(0).present() || !node.input(1).present()) {
    return std::nullopt;
  }
  BinaryParams params;
  for (const BinaryRow& row : kBinary) {
    if (std::string_view(row.op) == node.node().op) params.op = row.function;
  }
  NodeCall call = node.Call(params, LayoutRule::kFollow, 2);
  const int rank = node.output(0).shape.rank();
  bool whole_ranks = true;
  for (size_t i = 0; i < 2; ++i) {
    TensorDesc& desc = call.call.inputs[i];
    if (desc.shape.rank() > rank) return std::nullopt;
    const bool padded = desc.shape.rank() < rank;
    if (padded && !PadRank(rank, &desc)) return std::nullopt;
    call.follows[i] = !padded;
    // A padded operand is one memory in both layouts, or the call is plain.
    whole_ranks = whole_ranks && (!padded || LayoutsCoincide(desc.shape));
  }
  if (!whole_ranks) call.rule = LayoutRule::kPlain;
  return call;
}

}  // namespace kheya
