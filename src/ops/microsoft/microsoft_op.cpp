#include "ops/microsoft/microsoft_op.h"

namespace kheya {

Expansion::Attributes Copied(const Expansion& e, std::span<const char* const> names) {
  Expansion::Attributes copied;
  for (const char* name : names) {
    if (const Attribute* attribute = e.node().FindAttribute(name)) copied.push_back(*attribute);
  }
  return copied;
}

Result<ValueId> Activated(Expansion& e, ValueId value, const std::string& activation,
                          std::span<const float> params) {
  const auto param = [&](size_t index, float missing) {
    return index < params.size() ? params[index] : missing;
  };
  if (activation.empty()) return value;
  if (activation == "Relu" || activation == "Tanh" || activation == "Sigmoid" ||
      activation == "Softplus" || activation == "Softsign") {
    return e.Call(activation.c_str(), {value});
  }
  if (activation == "LeakyRelu") return e.Call("LeakyRelu", {value}, {{"alpha", param(0, 0.01f)}});
  if (activation == "Elu") return e.Call("Elu", {value}, {{"alpha", param(0, 1.0f)}});
  if (activation == "ThresholdedRelu") {
    return e.Call("ThresholdedRelu", {value}, {{"alpha", param(0, 1.0f)}});
  }
  if (activation == "HardSigmoid") {
    return e.Call("HardSigmoid", {value}, {{"alpha", param(0, 0.2f)}, {"beta", param(1, 0.5f)}});
  }
  if (activation == "Clip" && params.size() == 2) {
    return e.Call("Min", {e.Call("Max", {value, e.NumberLike(params[0], value)}),
                          e.NumberLike(params[1], value)});
  }
  return InvalidArgumentError("found activation '{}' with {} parameters", activation,
                              params.size());
}

Status CheckVector(const Expansion& e, int input) {
  if (e.RankOf(input).value_or(1) == 1) return OkStatus();
  return InvalidArgumentError("found input {} of shape {}, expected rank 1", input,
                              ToString(*e.ShapeOf(input)));
}

ValueId SumOf(Expansion& e, std::span<const ValueId> values) {
  ValueId sum = values.front();
  for (const ValueId value : values.subspan(1)) {
    if (value.valid()) sum = e.Call("Add", {sum, value});
  }
  return sum;
}

}  // namespace kheya
