// What operators say of their multiply-accumulates, which bound folding and name the cost of a
// node.
#include <gtest/gtest.h>

#include <optional>

#include "graph/text.h"
#include "ops/infer.h"
#include "ops/op.h"

namespace kheya {
namespace {

// Those of the first node; nullopt when it does not know.
std::optional<int64_t> MacsOf(const std::string& inputs, const std::string& node) {
  Result<Graph> graph = ParseGraph("graph g(" + inputs + ") -> (y) { y = " + node + " }");
  if (!graph.ok()) {
    ADD_FAILURE() << graph.status().ToString();
    return std::nullopt;
  }
  const Status status = InferTypes(*graph);
  EXPECT_TRUE(status.ok()) << status.ToString();
  const Node& first = graph->node(graph->NodeIds()[0]);
  return FindOp(first.domain, first.op)->macs(*graph, first);
}

TEST(Macs, OfMatrixProducts) {
  EXPECT_EQ(MacsOf("a: float32[5,2,3], b: float32[3,4]", "MatMul(a, b)"), 5 * 2 * 3 * 4);
  EXPECT_EQ(MacsOf("a: float32[3], b: float32[3,4]", "MatMul(a, b)"), 3 * 4);
  EXPECT_EQ(MacsOf("a: float32[2,3], b: float32[3,4]", "Gemm(a, b)"), 2 * 3 * 4);
  EXPECT_EQ(MacsOf("a: float32[3,2], b: float32[4,3]", "Gemm(a, b) {transA: 1, transB: 1}"),
            2 * 3 * 4);
  EXPECT_EQ(MacsOf("a: float32[2,3], b: float32[3,4]", "kheya::FusedMatMul(a, b)"), 2 * 3 * 4);
  EXPECT_EQ(MacsOf("a: float32[3,2], b: float32[3,4]", "kheya::FusedMatMul(a, b) {transA: 1}"),
            2 * 3 * 4);
}

TEST(Macs, OfConvolutions) {
  EXPECT_EQ(MacsOf("x: float32[1,4,5,5], w: float32[6,2,3,3]", "Conv(x, w) {group: 2}"),
            3 * 3 * 6 * 2 * 3 * 3);
  EXPECT_EQ(MacsOf("x: float32[1,2,4], w: float32[2,3,2]", "ConvTranspose(x, w)"), 4 * 2 * 3 * 2);
}

TEST(Macs, AreNotKnownWithoutShapes) {
  for (const char* op : {"MatMul", "Gemm", "kheya::FusedMatMul"}) {
    const std::string node = std::string(op) + "(a, b)";
    EXPECT_EQ(MacsOf("a: float32[N,3], b: float32[3,4]", node), std::nullopt) << op;
    EXPECT_EQ(MacsOf("a: float32?, b: float32[3,4]", node), std::nullopt) << op;
    EXPECT_EQ(MacsOf("a: float32[2,3], b: float32[3,N]", node), std::nullopt) << op;
  }
  for (const char* op : {"Conv", "ConvTranspose", "kheya::FusedConv"}) {
    const std::string node = std::string(op) + "(x, w)";
    EXPECT_EQ(MacsOf("x: float32[N,2,4], w: float32[2,2,2]", node), std::nullopt) << op;
    EXPECT_EQ(MacsOf("x: float32[1,2,4], w: float32[2,2,N]", node), std::nullopt) << op;
    EXPECT_EQ(MacsOf("x: float32?, w: float32[2,2,2]", node), std::nullopt) << op;
  }
}

TEST(Macs, AreNotKnownWhereTheyDoNotFit) {
  EXPECT_EQ(MacsOf("a: float32[2000000000,2000000000], b: float32[2000000000,4]", "MatMul(a, b)"),
            std::nullopt);
}

}  // namespace
}  // namespace kheya
