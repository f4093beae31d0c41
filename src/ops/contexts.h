// What inference and evaluation of an operator see: InferContext and EvalContext.
#ifndef KHEYA_OPS_CONTEXTS_H_
#define KHEYA_OPS_CONTEXTS_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/allocator.h"
#include "base/status.h"
#include "graph/graph.h"
#include "tensor/tensor.h"
#include "tensor/value.h"

namespace kheya {

// Typed reading of a node's attributes. A missing one gives the default. VerifyModel has checked
// names and kinds before any operator reads them; a wrong kind here gives the default too.
class AttributeReader {
 public:
  explicit AttributeReader(const Node& node) : node_(node) {}
  bool Has(std::string_view name) const { return node_.FindAttribute(name) != nullptr; }
  int64_t Int(std::string_view name, int64_t default_value) const;
  float Float(std::string_view name, float default_value) const;
  std::string String(std::string_view name, std::string_view default_value) const;
  std::vector<int64_t> Ints(std::string_view name) const;  // empty when missing
  std::vector<float> Floats(std::string_view name) const;
  std::vector<std::string> Strings(std::string_view name) const;
  const Tensor* TensorOrNull(std::string_view name) const;
  std::shared_ptr<Graph> GraphOrNull(std::string_view name) const;

 private:
  const Node& node_;
};

// The elements of an integer or bool tensor of rank 0 or 1 with at most kMaxPropagatedElements.
std::optional<std::vector<Dim>> ElementsOf(const Tensor& tensor);

// Inference of one node in a graph: reads the types of its inputs, writes those of its outputs.
class InferContext {
 public:
  // `depth`: how many graphs the graph is inside of.
  InferContext(Graph& graph, NodeId node, int depth = 0)
      : graph_(graph), id_(node), depth_(depth) {}

  Graph& graph() { return graph_; }
  const Node& node() const { return graph_.node(id_); }
  AttributeReader attributes() const { return AttributeReader(node()); }
  int depth() const { return depth_; }
  int num_inputs() const { return static_cast<int>(node().inputs.size()); }
  int num_outputs() const { return static_cast<int>(node().outputs.size()); }
  bool has_input(int index) const;
  // A left-out or unknown input gives a type of kind kUnknown.
  const ValueType& input_type(int index) const;
  DType input_dtype(int index) const { return input_type(index).dtype; }
  // Null when the rank is unknown.
  const SymbolicShape* input_shape(int index) const;
  // The input's tensor when it is a constant, else null. May be unaligned: read with ToInt64s or
  // At.
  const Tensor* input_constant(int index) const;
  // Known or symbolic elements of a small integer or bool input: from a constant or from
  // propagation. Dims may be unknown. nullopt: not even the number of elements is known.
  std::optional<std::vector<Dim>> input_elements(int index) const;

  // Ignored when the output was left out. What `type` leaves unknown is taken from the declared
  // type, if any; a contradiction in element type or rank is InvalidArgument.
  Status SetOutputType(int index, ValueType type);
  Status SetOutput(int index, DType dtype, std::optional<SymbolicShape> shape) {
    return SetOutputType(index, ValueType::OfTensor(dtype, std::move(shape)));
  }
  // What is known so far of an output; kind kUnknown when it was left out.
  const ValueType& output_type(int index) const;
  // Elements of an integer output of rank 0 or 1; more than kMaxPropagatedElements are dropped.
  void SetOutputElements(int index, std::vector<Dim> elements);

 private:
  Graph& graph_;
  NodeId id_;
  int depth_;
};

// A seed for the `count`-th use of `seed` by this node; never 0.
uint64_t MixSeed(uint64_t seed, const Node& node, uint64_t count);

// Evaluation of one node on real values. Input tensors are aligned. The implementer decides where
// outputs live: fresh memory when folding, the arena of a plan when running.
class EvalContext {
 public:
  virtual ~EvalContext() = default;

  virtual const Node& node() const = 0;
  AttributeReader attributes() const { return AttributeReader(node()); }
  virtual int num_inputs() const = 0;
  virtual const Value& input_value(int index) const = 0;  // empty when left out
  bool has_input(int index) const { return index < num_inputs() && !input_value(index).empty(); }
  // Must be a tensor: check with RequireTensor where the schema allows other kinds.
  const Tensor& input(int index) const { return input_value(index).tensor(); }

  int num_outputs() const { return static_cast<int>(node().outputs.size()); }
  bool wants_output(int index) const {
    return index < num_outputs() && node().outputs[index].valid();
  }
  // Memory for output `index`, contents undefined (strings empty); ResourceExhausted when the
  // budget refuses. An output that nobody wants gets scratch memory.
  virtual Result<MutableTensorView> Output(int index, DType dtype, const Shape& shape) = 0;
  // Gives a ready value: a shared or reshaped input, a sequence.
  virtual Status SetOutput(int index, Value value) = 0;
  // Runs a subgraph of this node; captured values are found by the implementer.
  virtual Result<std::vector<Value>> RunSubgraph(const Graph& graph,
                                                 std::span<const Value> inputs) = 0;
  // For scratch memory.
  virtual const std::shared_ptr<MemoryBudget>& budget() const = 0;
  // For operators that draw random numbers and have no seed of their own: the same for each node
  // and run that should give the same numbers.
  virtual uint64_t seed() const = 0;
  // Cancelled or DeadlineExceeded; long loops ask from time to time.
  virtual Status CheckAlive() const { return OkStatus(); }
};

}  // namespace kheya

#endif  // KHEYA_OPS_CONTEXTS_H_
