// Whole-graph services on top of the operators.
#ifndef KHEYA_OPS_INFER_H_
#define KHEYA_OPS_INFER_H_

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"

namespace kheya {

// Infers types, shapes and small integer elements of every value in topological order, subgraphs
// included. Declared types are hints: where inference knows better and the declared shape (not the
// element type) contradicts it, a line is added to `warnings` (may be null) and inference wins.
// Fails with the node's context on contradictions and unsupported operators are left unknown.
Status InferTypes(Graph& graph, std::vector<std::string>* warnings = nullptr);

// The same for a graph inside of `depth` others.
Status InferNested(Graph& graph, int depth, std::vector<std::string>* warnings = nullptr);

// Takes away types and elements of every value that a node makes, subgraphs included.
void ForgetTypes(Graph& graph);

// InferTypes for one node whose inputs are known as far as they can be: for importers, which need
// the types of values while they add nodes.
Status InferNode(Graph& graph, NodeId node, std::vector<std::string>* warnings = nullptr);

// Gives the inputs named in `shapes` these known shapes, puts the numbers that they give to symbols
// into the shapes of the other inputs, then infers again from scratch. InvalidArgument when a shape
// does not match the declared one or names no input, or when a symbol would be two numbers.
Status SpecializeInputs(Graph& graph, const std::map<std::string, Shape>& shapes);

// Runs the graph node by node with the reference kernels on the calling thread: the oracle of
// every faster executor, and what constant folding and subgraphs use. `inputs` in the order of
// graph.inputs(); captured values in the order of graph.captures().
struct InterpretOptions {
  std::shared_ptr<MemoryBudget> budget;  // null: the process's
  std::vector<Value> captures = {};
  std::function<Status()> check_alive = nullptr;  // asked before each node
  // Of nodes that draw random numbers and have no seed of their own; 0: another one each time.
  uint64_t seed = 0;
};
Result<std::vector<Value>> Interpret(const Graph& graph, std::span<const Value> inputs,
                                     const InterpretOptions& options);

// One node on given inputs, for folding and tests.
Result<std::vector<Value>> EvaluateNode(const Graph& graph, NodeId node,
                                        std::span<const Value> inputs,
                                        const InterpretOptions& options);

}  // namespace kheya

#endif  // KHEYA_OPS_INFER_H_
