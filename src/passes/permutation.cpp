#include "passes/permutation.h"

#include <algorithm>

#include "ops/contexts.h"
#include "passes/match.h"

namespace kheya {

Perm PermOf(const Graph& graph, const Node& transpose) {
  Perm perm = AttributeReader(transpose).Ints("perm");
  const SymbolicShape* shape = ShapeOf(graph, transpose.inputs[0]);
  if (perm.empty() && shape != nullptr) {
    for (size_t i = shape->size(); i > 0; --i) perm.push_back(static_cast<int64_t>(i) - 1);
  }
  const auto size = static_cast<int64_t>(perm.size());
  const bool sound =
      std::all_of(perm.begin(), perm.end(), [&](int64_t axis) { return axis >= 0 && axis < size; });
  return sound ? perm : Perm();
}

bool IsInOrder(const Perm& perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

Perm Compose(const Perm& inner, const Perm& outer) {
  Perm both;
  for (int64_t axis : outer) both.push_back(inner[axis]);
  return both;
}

}  // namespace kheya
