#include "passes/residual.h"

#include "passes/match.h"

namespace kheya {

std::optional<Residual> ResidualBehind(const Graph& graph, ValueId value, std::string* reason) {
  const std::optional<Use> use = SoleUse(graph, value);
  if (!use) {
    *reason = WhyNotSole(graph, value);
    return std::nullopt;
  }
  const Node& add = graph.node(use->node);
  const bool is_sum = IsOp(add, "Sum") && add.inputs.size() == 2;
  if (!IsOp(add, "Add") && !is_sum) return std::nullopt;
  const ValueId addend = OtherInput(add, value);
  if (DTypeOfValue(graph, addend) != DTypeOfValue(graph, value) ||
      !SameShape(graph, addend, value)) {
    *reason = fmt::format("'{}' is added, which is {}, expected the shape of the output {}",
                          graph.value(addend).name, graph.value(addend).type.ToString(),
                          graph.value(value).type.ToString());
    return std::nullopt;
  }
  return Residual{addend, add.outputs[0]};
}

}  // namespace kheya
