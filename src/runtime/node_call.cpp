#include "runtime/node_call.h"

#include <string_view>

#include "runtime/node_call_builders.h"

namespace kheya {
namespace {

using Builder = std::optional<NodeCall> (*)(const NodeShapes& node);

struct Row {
  const char* op;
  Builder build;
};

constexpr Row kRows[] = {
    {"Conv", MakeConvCall},
    {"FusedConv", MakeConvCall},
    {"MatMul", MakeMatMulCall},
    {"Gemm", MakeMatMulCall},
    {"FusedMatMul", MakeMatMulCall},
    {"MaxPool", MakePoolCall},
    {"AveragePool", MakePoolCall},
    {"GlobalAveragePool", MakeGlobalMeanCall},
    {"ReduceMean", MakeReduceMeanCall},
    {"LRN", MakeLrnCall},
    {"FusedBatchNorm", MakeAffineCall},
    {"Softmax", MakeSoftmaxCall},
    {"LogSoftmax", MakeSoftmaxCall},
    {"LayerNormalization", MakeLayerNormCall},
    {"Add", MakeBinaryCall},
    {"Sub", MakeBinaryCall},
    {"Mul", MakeBinaryCall},
    {"Div", MakeBinaryCall},
    {"Min", MakeBinaryCall},
    {"Max", MakeBinaryCall},
    {"Sum", MakeBinaryCall},
    {"Transpose", MakeTransposeCall},
    {"Concat", MakeConcatCall},
    {"Split", MakeSplitCall},
    {"Gather", MakeGatherCall},
};

}  // namespace

std::optional<NodeCall> MakeNodeCall(const Graph& graph, const Node& node) {
  if (!node.domain.empty() && node.domain != kInternalDomain) return std::nullopt;
  const NodeShapes shapes(graph, node);
  if (!shapes.known()) return std::nullopt;
  for (const Row& row : kRows) {
    if (std::string_view(row.op) == node.op) return row.build(shapes);
  }
  return MakeUnaryCall(shapes);
}

}  // namespace kheya
