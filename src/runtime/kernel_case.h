// Small graphs on random values, on which every kernel is compared with the reference.
#ifndef KHEYA_RUNTIME_KERNEL_CASE_H_
#define KHEYA_RUNTIME_KERNEL_CASE_H_

#include <cmath>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "tensor/tensor.h"
#include "tensor/value.h"

namespace kheya {

using Rng = std::mt19937;

inline int64_t Draw(Rng& rng, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(rng);
}

// Some inputs hold a NaN or an infinity: what it makes of sums must come out behind any activation.
inline Tensor SpoilSometimes(Rng& rng, Tensor tensor) {
  std::span<float> values = tensor.mutable_data<float>();
  if (values.empty()) return tensor;
  float& middle = values[values.size() / 2];
  if (const int64_t draw = Draw(rng, 0, 6); draw < 2) middle = draw == 0 ? NAN : INFINITY;
  return tensor;
}

inline Tensor RandomTensor(Rng& rng, const Shape& shape, float low = -2, float high = 2) {
  Tensor tensor = Tensor::Allocate(DType::kFloat32, shape).value();
  std::uniform_real_distribution<float> draw(low, high);
  for (float& value : tensor.mutable_data<float>()) value = draw(rng);
  return tensor;
}

// A graph of one operator (or few) with values for its inputs.
struct Case {
  Graph graph{"case"};
  std::vector<Value> inputs;

  ValueId Input(Tensor tensor) {
    const ValueId id =
        graph.AddInput(fmt::format("x{}", inputs.size()),
                       ValueType::OfTensor(tensor.dtype(), ToSymbolic(tensor.shape())));
    inputs.push_back(std::move(tensor));
    return id;
  }
  ValueId Constant(Tensor tensor) { return graph.AddConstant("c", std::move(tensor)); }
  ValueId Node(const std::string& op, std::vector<ValueId> node_inputs,
               std::vector<Attribute> attributes = {}, const std::string& domain = "") {
    const NodeId id = graph
                          .AddNode({.op = op,
                                    .domain = domain,
                                    .name = "node",
                                    .inputs = std::move(node_inputs),
                                    .outputs = {"y"},
                                    .attributes = std::move(attributes)})
                          .value();
    return graph.node(id).outputs[0];
  }
  void Output(ValueId id) { graph.AddOutput(graph.value(id).name, id); }
};

using Ints = std::vector<int64_t>;

// In files of their own:
void MakeRegion(Rng& rng, Case& c);         // kernels_region_test.cpp
void MakeConvTranspose(Rng& rng, Case& c);  // kernels_region_test.cpp
void MakeResize(Rng& rng, Case& c);         // kernels_select_test.cpp
void MakeTopK(Rng& rng, Case& c);           // kernels_select_test.cpp
void MakeRecurrent(Rng& rng, Case& c);      // kernels_recurrent_test.cpp
void MakeTrees(Rng& rng, Case& c);          // kernels_trees_test.cpp
// Compares the rows that take bfloat16, in all mixtures of types, with the reference, and adds
// their names to `used`. kernels_bf16_test.cpp
void CompareInBf16(const Case& c, const std::string& what, std::set<std::string>* used);

}  // namespace kheya

#endif  // KHEYA_RUNTIME_KERNEL_CASE_H_
