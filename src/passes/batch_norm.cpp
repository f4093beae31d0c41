#include "passes/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "ops/contexts.h"
#include "passes/match.h"

namespace kheya {

std::optional<ScaleShift> ReadBatchNorm(const Graph& graph, const Node& norm, std::string* reason) {
  const auto fail = [&](const char* why) {
    *reason = why;
    return std::nullopt;
  };
  if (AttributeReader(norm).Int("training_mode", 0) != 0) return fail("it is in training mode");
  if (std::any_of(norm.outputs.begin() + 1, norm.outputs.end(),
                  [](ValueId output) { return output.valid(); })) {
    return fail("it gives running statistics");
  }
  std::vector<std::vector<double>> parameters;  // scale, bias, mean, variance
  for (size_t i = 1; i < 5; ++i) {
    const ValueId input = InputOf(norm, i);
    std::optional<std::vector<double>> values = ConstantFloats(graph, input);
    if (!values) return fail("its parameters are not constant");
    if (DTypeOfValue(graph, input) != DType::kFloat32)
      return fail("its parameters are not float32");
    if (i > 1 && values->size() != parameters[0].size())
      return fail("its parameters differ in length");
    parameters.push_back(std::move(*values));
  }
  const double epsilon = AttributeReader(norm).Float("epsilon", 1e-5f);
  ScaleShift affine;
  for (size_t i = 0; i < parameters[0].size(); ++i) {
    const double scale = parameters[0][i] / std::sqrt(parameters[3][i] + epsilon);
    const double shift = parameters[1][i] - parameters[2][i] * scale;
    if (!std::isfinite(scale) || !std::isfinite(shift)) return fail("its numbers are not finite");
    affine.scale.push_back(scale);
    affine.shift.push_back(shift);
  }
  return affine;
}

}  // namespace kheya
