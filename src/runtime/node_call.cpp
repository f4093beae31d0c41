#include "runtime/node_call.h"

#include <string_view>

#include "runtime/node_call_builders.h"

namespace kheya {
namespace {

using Builder = std::optional<NodeCall> (*)(const NodeShapes& node);

struct Row {
  const char* op;
  const char* family;  // as in kernels.inc
  Builder build;
  const char* domain = "";  // standard operators and those that lowering makes
  bool any_output = false;  // the first output may be left out
};

// Elementwise functions of one input have a table of their own.
constexpr Row kRows[] = {
    {"Conv", "Conv", MakeConvCall},
    {"FusedConv", "Conv", MakeConvCall},
    {"MatMul", "MatMul", MakeMatMulCall},
    {"Gemm", "MatMul", MakeMatMulCall},
    {"FusedMatMul", "MatMul", MakeMatMulCall},
    {"FusedAttention", "Attention", MakeAttentionCall},
    {"MaxPool", "Pool", MakePoolCall},
    {"AveragePool", "Pool", MakePoolCall},
    {"GlobalAveragePool", "GlobalMean", MakeGlobalMeanCall},
    {"ReduceMean", "ReduceMean", MakeReduceMeanCall},
    {"LRN", "Lrn", MakeLrnCall},
    {"FusedBatchNorm", "Affine", MakeAffineCall},
    {"Softmax", "Softmax", MakeSoftmaxCall},
    {"LogSoftmax", "Softmax", MakeSoftmaxCall},
    {"LayerNormalization", "LayerNorm", MakeLayerNormCall},
    {"RMSNormalization", "LayerNorm", MakeLayerNormCall},
    {"Add", "Binary", MakeBinaryCall},
    {"Sub", "Binary", MakeBinaryCall},
    {"Mul", "Binary", MakeBinaryCall},
    {"Div", "Binary", MakeBinaryCall},
    {"Min", "Binary", MakeBinaryCall},
    {"Max", "Binary", MakeBinaryCall},
    {"Sum", "Binary", MakeBinaryCall},
    {"Transpose", "Transpose", MakeTransposeCall},
    {"Concat", "Concat", MakeConcatCall},
    {"Split", "Split", MakeSplitCall},
    {"Gather", "Gather", MakeGatherCall},
    {"ConvTranspose", "ConvTranspose", MakeConvTransposeCall},
    {"Slice", "Region", MakeSliceCall},
    {"Pad", "Region", MakePadCall},
    {"Resize", "Resize", MakeResizeCall},
    {"TopK", "TopK", MakeTopKCall, "", true},
    {"LSTM", "Recurrent", MakeRecurrentCall, "", true},
    {"GRU", "Recurrent", MakeRecurrentCall, "", true},
    {"RNN", "Recurrent", MakeRecurrentCall, "", true},
    {"TreeEnsemble", "Trees", MakeTreesCall, "ai.onnx.ml"},
    {"TreeEnsembleClassifier", "Trees", MakeTreesCall, "ai.onnx.ml", true},
    {"TreeEnsembleRegressor", "Trees", MakeTreesCall, "ai.onnx.ml"},
};

bool IsStandard(std::string_view domain) { return domain.empty() || domain == kInternalDomain; }

const Row* FindRow(std::string_view domain, std::string_view op) {
  for (const Row& row : kRows) {
    const std::string_view own = row.domain;
    if (op == row.op && (own.empty() ? IsStandard(domain) : own == domain)) return &row;
  }
  return nullptr;
}

}  // namespace

std::optional<NodeCall> MakeNodeCall(const Graph& graph, const Node& node) {
  const Row* row = FindRow(node.domain, node.op);
  if (row == nullptr && !IsStandard(node.domain)) return std::nullopt;
  const NodeShapes shapes(graph, node);
  if (!shapes.known() || (!shapes.has_first() && !(row != nullptr && row->any_output))) {
    return std::nullopt;
  }
  return row != nullptr ? row->build(shapes) : MakeUnaryCall(shapes);
}

std::string_view KernelFamilyOf(std::string_view domain, std::string_view op) {
  const Row* row = FindRow(domain, op);
  if (row != nullptr) return row->family;
  return IsStandard(domain) && IsUnaryCall(op) ? "Unary" : "";
}

}  // namespace kheya
