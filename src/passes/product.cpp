#include "passes/product.h"

#include <cmath>

#include "passes/match.h"

namespace kheya {
namespace {

constexpr int kMaxDepth = 4;

void Multiply(const Graph& graph, ValueId value, int depth, Product& product) {
  if (const std::optional<double> scalar = ConstantScalar(graph, value)) {
    product.scale *= *scalar;
    return;
  }
  const bool open = depth == 0 || (depth < kMaxDepth && SoleUse(graph, value).has_value());
  const NodeId mul = open ? ProducerOf(graph, value, "Mul") : NodeId();
  const NodeId div = open ? ProducerOf(graph, value, "Div") : NodeId();
  const NodeId pow = open ? ProducerOf(graph, value, "Pow") : NodeId();
  if (mul.valid()) {
    Multiply(graph, graph.node(mul).inputs[0], depth + 1, product);
    Multiply(graph, graph.node(mul).inputs[1], depth + 1, product);
    return;
  }
  if (div.valid()) {
    if (const auto divisor = ConstantScalar(graph, graph.node(div).inputs[1])) {
      product.scale /= *divisor;
      return Multiply(graph, graph.node(div).inputs[0], depth + 1, product);
    }
  }
  if (pow.valid()) {
    const auto exponent = ConstantScalar(graph, graph.node(pow).inputs[1]);
    if (exponent == 2.0 || exponent == 3.0) {
      product.factors.insert(product.factors.end(), static_cast<size_t>(*exponent),
                             graph.node(pow).inputs[0]);
      return;
    }
  }
  product.factors.push_back(value);
}

}  // namespace

Product ProductOf(const Graph& graph, ValueId value) {
  Product product;
  Multiply(graph, value, 0, product);
  return product;
}

bool IsNear(double found, double expected) {
  return std::abs(found - expected) <= 1e-6 * std::abs(expected);
}

}  // namespace kheya
