// Recurrent networks for the comparison of kernels.
#include <algorithm>
#include <cmath>

#include "runtime/kernel_case.h"

namespace kheya {
namespace {

constexpr const char* kDirections[] = {"forward", "reverse", "bidirectional"};

Tensor RandomLengths(Rng& rng, int64_t batch, int64_t longest) {
  Tensor lengths = Tensor::Allocate(DType::kInt32, Shape{batch}).value();
  for (int32_t& length : lengths.mutable_data<int32_t>()) {
    length = static_cast<int32_t>(Draw(rng, 0, longest));
  }
  return lengths;
}

void SetActivations(Rng& rng, const std::string& op, int64_t directions,
                    std::vector<Attribute>& attributes) {
  if (op != "RNN" || Draw(rng, 0, 1) == 0) return;
  std::vector<std::string> names;
  for (int64_t d = 0; d < directions; ++d) names.push_back(Draw(rng, 0, 1) ? "Relu" : "Tanh");
  attributes.push_back({"activations", names});
}

}  // namespace

void MakeRecurrent(Rng& rng, Case& c) {
  constexpr const char* kOps[] = {"LSTM", "GRU", "RNN"};
  const std::string op = kOps[Draw(rng, 0, 2)];
  const bool lstm = op == "LSTM";
  const int64_t way = Draw(rng, 0, 2), directions = way == 2 ? 2 : 1;
  const int64_t gates = lstm ? 4 : op == "GRU" ? 3 : 1;
  const bool large = Draw(rng, 0, 24) == 0;  // cut into slices, and its steps into several runs
  const int64_t length = large ? 60 : Draw(rng, 1, 9), hidden = large ? 80 : Draw(rng, 1, 40);
  const int64_t input = Draw(rng, 1, 30);
  const int64_t batch = large ? 27 : Draw(rng, 0, 1) ? 1 : Draw(rng, 2, 11);
  const bool batch_first = Draw(rng, 0, 1) != 0;
  const Shape state =
      batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  const auto maybe = [&](const auto& make) { return Draw(rng, 0, 1) != 0 ? make() : ValueId(); };
  // Such that a step does not make differences of states larger: rounding would grow with them.
  const float bound = std::min(0.4f, 1.2f / std::sqrt(static_cast<float>(hidden)));
  const auto weights = [&](const Shape& shape) {
    return c.Constant(RandomTensor(rng, shape, -bound, bound));
  };
  const Shape x = batch_first ? Shape{batch, length, input} : Shape{length, batch, input};
  std::vector<ValueId> inputs = {c.Input(SpoilSometimes(rng, RandomTensor(rng, x)))};
  inputs.push_back(weights({directions, gates * hidden, input}));
  inputs.push_back(weights({directions, gates * hidden, hidden}));
  inputs.push_back(maybe([&] { return weights({directions, 2 * gates * hidden}); }));
  inputs.push_back(maybe([&] { return c.Input(RandomLengths(rng, batch, length)); }));
  inputs.push_back(maybe([&] { return c.Input(RandomTensor(rng, state)); }));
  if (lstm) {
    inputs.push_back(maybe([&] { return c.Input(RandomTensor(rng, state)); }));
    inputs.push_back(maybe([&] { return weights({directions, 3 * hidden}); }));
  }
  std::vector<Attribute> attributes = {{"direction", std::string(kDirections[way])},
                                       {"hidden_size", hidden},
                                       {"layout", int64_t{batch_first}}};
  SetActivations(rng, op, directions, attributes);
  if (Draw(rng, 0, 2) == 0) attributes.push_back({"clip", 0.7f});
  if (op == "GRU") attributes.push_back({"linear_before_reset", Draw(rng, 0, 1)});
  if (lstm) attributes.push_back({"input_forget", Draw(rng, 0, 1)});
  std::vector<std::string> names = {"y", "last_h"};
  if (lstm) names.push_back("last_c");
  // Some want the last state alone.
  if (Draw(rng, 0, 3) == 0) names[0].clear();
  const NodeId id = c.graph
                        .AddNode({.op = op,
                                  .name = "cells",
                                  .inputs = std::move(inputs),
                                  .outputs = names,
                                  .attributes = std::move(attributes)})
                        .value();
  for (const ValueId output : c.graph.node(id).outputs) {
    if (output.valid()) c.Output(output);
  }
}

}  // namespace kheya
