#include "ops/subgraph.h"

#include <utility>

#include "ops/infer.h"

namespace kheya {
namespace {

// Loops that are nested deeper have carried values of unknown shape: each level of trials
// multiplies the work.
constexpr int kMaxTrialDepth = 3;
constexpr int kMaxTrials = 3;

ValueType WithoutShapes(ValueType type) {
  type.shape.reset();
  if (type.element) {
    type.element = std::make_shared<const ValueType>(WithoutShapes(*type.element));
  }
  return type;
}

// Infers the body with these inputs and weakens the carried ones by what comes out. True when
// nothing had to be weakened.
Result<bool> Weaken(InferContext& context, const Graph& body, const CarriedValues& carried,
                    std::vector<ValueType>& types) {
  Graph trial = body.Clone();
  ForgetTypes(trial);
  SetInputTypes(trial, types);
  KHEYA_RETURN_IF_ERROR(InferNested(trial, context.depth() + 1));
  bool stable = true;
  for (size_t i = 0; i < carried.count; ++i) {
    ValueType& before = types[carried.first_input + i];
    const ValueType& after = OutputType(trial, carried.first_output + i);
    if (before.kind == ValueType::Kind::kUnknown) continue;
    std::optional<ValueType> common = CommonType(before, after);
    if (!common) {
      return InvalidArgumentError(
          "found type {} before an iteration and {} after it for carried value {}",
          before.ToString(), after.ToString(), i);
    }
    if (common->kind == ValueType::Kind::kUnknown) common = WithoutShapes(before);
    if (*common == before) continue;
    stable = false;
    before = *std::move(common);
  }
  return stable;
}

}  // namespace

Result<std::shared_ptr<Graph>> SubgraphOf(const AttributeReader& attributes, const char* name) {
  std::shared_ptr<Graph> graph = attributes.GraphOrNull(name);
  if (graph == nullptr) return InvalidArgumentError("found no graph '{}'", name);
  return graph;
}

Status CheckSubgraph(const Graph& graph, const char* name, size_t num_inputs, size_t num_outputs) {
  if (graph.inputs().size() != num_inputs) {
    return InvalidArgumentError("{}: found {} inputs, expected {}", name, graph.inputs().size(),
                                num_inputs);
  }
  if (graph.outputs().size() != num_outputs) {
    return InvalidArgumentError("{}: found {} outputs, expected {}", name, graph.outputs().size(),
                                num_outputs);
  }
  return OkStatus();
}

void SetInputTypes(Graph& body, const std::vector<ValueType>& types) {
  for (size_t i = 0; i < types.size() && i < body.inputs().size(); ++i) {
    if (types[i].kind != ValueType::Kind::kUnknown) body.SetType(body.inputs()[i], types[i]);
  }
}

Status InferBodyInputs(InferContext& context, Graph& body, std::vector<ValueType> types,
                       const CarriedValues& carried) {
  bool stable = carried.count == 0;
  const int trials = context.depth() < kMaxTrialDepth ? kMaxTrials : 0;
  for (int trial = 0; trial < trials && !stable; ++trial) {
    KHEYA_ASSIGN_OR_RETURN(stable, Weaken(context, body, carried, types));
  }
  for (size_t i = 0; i < carried.count && !stable; ++i) {
    ValueType& type = types[carried.first_input + i];
    type = WithoutShapes(std::move(type));
  }
  SetInputTypes(body, types);
  return OkStatus();
}

const ValueType& OutputType(const Graph& graph, size_t index) {
  return graph.value(graph.outputs()[index].value).type;
}

}  // namespace kheya
