// What operators that run subgraphs share.
#ifndef KHEYA_OPS_SUBGRAPH_H_
#define KHEYA_OPS_SUBGRAPH_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "base/status.h"
#include "ops/contexts.h"

namespace kheya {

// The graph of attribute `name`. InvalidArgument when it is not there.
Result<std::shared_ptr<Graph>> SubgraphOf(const AttributeReader& attributes, const char* name);

// InvalidArgument when the graph has not as many inputs and outputs; `name` is the attribute's.
Status CheckSubgraph(const Graph& graph, const char* name, size_t num_inputs, size_t num_outputs);

// Sets the types of a subgraph's inputs; those of unknown kind stay as they are declared.
void SetInputTypes(Graph& body, const std::vector<ValueType>& types);

// The inputs and outputs of a loop's body that are carried from one iteration to the next.
struct CarriedValues {
  size_t count;
  size_t first_input;
  size_t first_output;
};

// Sets the types of the body's inputs. `types` are those of the first iteration; carried ones are
// weakened until they are true of every iteration. InvalidArgument when an iteration gives a value
// of another kind or element type than it took.
Status InferBodyInputs(InferContext& context, Graph& body, std::vector<ValueType> types,
                       const CarriedValues& carried);

// The type of output `index` of a graph that was inferred.
const ValueType& OutputType(const Graph& graph, size_t index);

}  // namespace kheya

#endif  // KHEYA_OPS_SUBGRAPH_H_
