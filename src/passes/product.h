// A value as a product: what patterns of activations with scattered factors look at.
#ifndef KHEYA_PASSES_PRODUCT_H_
#define KHEYA_PASSES_PRODUCT_H_

#include <vector>

#include "graph/graph.h"

namespace kheya {

// Scalar constants in `scale`, the rest as factors.
struct Product {
  double scale = 1;
  std::vector<ValueId> factors;
};

// Opens Mul, Div by a scalar, and Pow to 2 and to 3, a few deep; below the root, only where nothing
// else uses the result.
Product ProductOf(const Graph& graph, ValueId value);

// Equal but for the rounding of a constant.
bool IsNear(double found, double expected);

}  // namespace kheya

#endif  // KHEYA_PASSES_PRODUCT_H_
