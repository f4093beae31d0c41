#include "ops/recurrent_attributes.h"

#include <array>
#include <optional>
#include <vector>

#include "base/string_util.h"

namespace kheya {
namespace {

using kernels::Cell;
using kernels::RecurrentActivation;
using kernels::RecurrentFunction;

struct FunctionRow {
  const char* name;
  RecurrentFunction function;
  std::optional<float> alpha;  // the default where the function has one
  std::optional<float> beta;
};

constexpr FunctionRow kFunctions[] = {
    {"Affine", RecurrentFunction::kAffine, 1.0f, 0.0f},
    {"Elu", RecurrentFunction::kElu, 1.0f, std::nullopt},
    {"HardSigmoid", RecurrentFunction::kHardSigmoid, 0.2f, 0.5f},
    {"LeakyRelu", RecurrentFunction::kLeakyRelu, 0.01f, std::nullopt},
    {"Relu", RecurrentFunction::kRelu, std::nullopt, std::nullopt},
    {"ScaledTanh", RecurrentFunction::kScaledTanh, 1.0f, 1.0f},
    {"Sigmoid", RecurrentFunction::kSigmoid, std::nullopt, std::nullopt},
    {"Softplus", RecurrentFunction::kSoftplus, std::nullopt, std::nullopt},
    {"Softsign", RecurrentFunction::kSoftsign, std::nullopt, std::nullopt},
    {"Tanh", RecurrentFunction::kTanh, std::nullopt, std::nullopt},
    {"ThresholdedRelu", RecurrentFunction::kThresholdedRelu, 1.0f, std::nullopt}};

std::vector<std::string> DefaultActivations(Cell cell) {
  switch (cell) {
    case Cell::kRnn:
      return {"Tanh"};
    case Cell::kGru:
      return {"Sigmoid", "Tanh"};
    case Cell::kLstm:
      return {"Sigmoid", "Tanh", "Tanh"};
  }
  return {};
}

// Hands out the values of a list to those functions that have such a parameter.
class Values {
 public:
  explicit Values(std::vector<float> values) : values_(std::move(values)) {}
  double Next(const std::optional<float>& missing) {
    if (!missing) return 0;
    return next_ < values_.size() ? values_[next_++] : *missing;
  }

 private:
  const std::vector<float> values_;
  size_t next_ = 0;
};

Result<RecurrentActivation> ActivationOf(const std::string& name, Values& alphas, Values& betas) {
  for (const FunctionRow& row : kFunctions) {
    if (!EqualsIgnoreCase(name, row.name)) continue;
    return RecurrentActivation{row.function, alphas.Next(row.alpha), betas.Next(row.beta)};
  }
  return UnimplementedError("activation '{}' is not supported", name);
}

Result<std::vector<bool>> Reversals(const AttributeReader& attributes) {
  const std::string direction = attributes.String("direction", "forward");
  if (direction == "forward") return std::vector<bool>{false};
  if (direction == "reverse") return std::vector<bool>{true};
  if (direction == "bidirectional") return std::vector<bool>{false, true};
  return InvalidArgumentError("found direction '{}', expected forward, reverse or bidirectional",
                              direction);
}

}  // namespace

Result<kernels::RecurrentParams> ReadRecurrent(const AttributeReader& attributes, Cell cell) {
  kernels::RecurrentParams params;
  params.cell = cell;
  KHEYA_ASSIGN_OR_RETURN(const std::vector<bool> reversals, Reversals(attributes));
  const std::vector<std::string> usual = DefaultActivations(cell);
  std::vector<std::string> names = attributes.Strings("activations");
  if (names.empty()) {
    for (size_t d = 0; d < reversals.size(); ++d) {
      names.insert(names.end(), usual.begin(), usual.end());
    }
  }
  // Models exported long ago name those of one direction, or of two where there is one.
  if (names.size() < usual.size() * reversals.size()) {
    return InvalidArgumentError("found {} activations, expected {}", names.size(),
                                usual.size() * reversals.size());
  }
  Values alphas(attributes.Floats("activation_alpha"));
  Values betas(attributes.Floats("activation_beta"));
  for (size_t d = 0; d < reversals.size(); ++d) {
    kernels::RecurrentDirection direction;
    direction.reverse = reversals[d];
    for (size_t i = 0; i < usual.size(); ++i) {
      KHEYA_ASSIGN_OR_RETURN(direction.activations[i],
                             ActivationOf(names[d * usual.size() + i], alphas, betas));
    }
    params.directions.push_back(direction);
  }
  params.clip = attributes.Float("clip", 0);
  if (params.clip < 0)
    return InvalidArgumentError("found clip {}, expected 0 or more", params.clip);
  const int64_t layout = attributes.Int("layout", 0);
  if (layout != 0 && layout != 1) {
    return InvalidArgumentError("found layout {}, expected 0 or 1", layout);
  }
  params.batch_first = layout == 1;
  params.linear_before_reset = attributes.Int("linear_before_reset", 0) != 0;
  params.input_forget = attributes.Int("input_forget", 0) != 0;
  return params;
}

}  // namespace kheya
