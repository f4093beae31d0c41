// Activations that fused operators apply: one table of what they are called and how they are
// written as standard operators.
#ifndef KHEYA_PASSES_ACTIVATION_H_
#define KHEYA_PASSES_ACTIVATION_H_

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/patch.h"

namespace kheya {

// As in the attributes `activation` and `activation_params` of the fused operators
// (ops/fused_activation.h).
struct Activation {
  std::string name;  // empty: none
  std::vector<float> params;
  ValueId output;  // of the node that was matched
};

// The activation that is the only user of `value`; nullopt when there is none, or when it cannot be
// fused (then with a reason, if it is one by name).
std::optional<Activation> ActivationBehind(const Graph& graph, ValueId value, std::string* reason);

// The attributes that say this activation; none for no activation.
std::vector<Attribute> ActivationAttributes(const Activation& activation);

// Adds the standard operator for an activation of a fused node to the patch; `value` itself when it
// has none. InvalidArgument for an unknown name.
Result<ValueId> AddActivation(Patch& patch, const Node& fused, ValueId value);

}  // namespace kheya

#endif  // KHEYA_PASSES_ACTIVATION_H_
