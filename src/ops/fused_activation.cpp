#include "ops/fused_activation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace kheya {
namespace {

struct ActivationRow {
  std::string_view name;
  size_t params;
  double (*apply)(double x, std::span<const float> p);
};

constexpr ActivationRow kActivations[] = {
    {"", 0, [](double x, std::span<const float>) { return x; }},
    {"Relu", 0, [](double x, std::span<const float>) { return x < 0 ? 0 : x; }},
    {"Clip", 2,
     [](double x, std::span<const float> p) { return x < p[0]   ? p[0]
                                                     : x > p[1] ? p[1]
                                                                : x; }},
    {"LeakyRelu", 1, [](double x, std::span<const float> p) { return x < 0 ? p[0] * x : x; }},
    {"HardSwish", 0,
     [](double x, std::span<const float>) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
    {"Sigmoid", 0, [](double x, std::span<const float>) { return 1 / (1 + std::exp(-x)); }},
    {"SiLU", 0, [](double x, std::span<const float>) { return x / (1 + std::exp(-x)); }},
    {"Gelu", 0,
     [](double x, std::span<const float>) {
       return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
     }},
    {"GeluTanh", 0,
     [](double x, std::span<const float>) {
       const double root = std::sqrt(2 / std::numbers::pi);
       return 0.5 * x * (1 + std::tanh(root * (x + 0.044715 * x * x * x)));
     }},
    {"Mish", 0,
     [](double x, std::span<const float>) {
       return x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
     }},
    {"Tanh", 0, [](double x, std::span<const float>) { return std::tanh(x); }},
};

const ActivationRow* FindActivation(std::string_view name) {
  const auto* it = std::find_if(std::begin(kActivations), std::end(kActivations),
                                [&](const ActivationRow& row) { return row.name == name; });
  return it == std::end(kActivations) ? nullptr : it;
}

template <typename T>
void ApplyTo(const ActivationRow& row, std::span<const float> params, std::span<T> values) {
  for (T& value : values) value = static_cast<T>(row.apply(value, params));
}

template <typename T>
void AddTo(std::span<const T> addend, std::span<T> y) {
  std::transform(addend.begin(), addend.end(), y.begin(), y.begin(), std::plus<>());
}

}  // namespace

Status CheckActivation(std::string_view name, std::span<const float> params) {
  const ActivationRow* row = FindActivation(name);
  if (row == nullptr) return InvalidArgumentError("found no activation '{}'", name);
  if (params.size() == row->params) return OkStatus();
  return InvalidArgumentError("found {} parameters of activation '{}', expected {}", params.size(),
                              name, row->params);
}

Status CheckActivation(const AttributeReader& attributes) {
  return CheckActivation(attributes.String("activation", ""),
                         attributes.Floats("activation_params"));
}

Status ApplyActivation(const AttributeReader& attributes, const MutableTensorView& y) {
  const std::string name = attributes.String("activation", "");
  const std::vector<float> params = attributes.Floats("activation_params");
  KHEYA_RETURN_IF_ERROR(CheckActivation(name, params));
  const ActivationRow& row = *FindActivation(name);
  if (y.dtype == DType::kFloat32) {
    ApplyTo(row, params, y.as<float>());
  } else if (y.dtype == DType::kFloat64) {
    ApplyTo(row, params, y.as<double>());
  } else {
    return UnimplementedError("activation '{}' of {} is not supported", name, DTypeName(y.dtype));
  }
  return OkStatus();
}

Status AddResidual(const Tensor& addend, const MutableTensorView& y) {
  if (!addend.defined()) return OkStatus();
  if (addend.dtype() != y.dtype || !(addend.shape() == y.shape)) {
    return InvalidArgumentError("found a residual of {}, expected {}{}", addend.TypeString(),
                                DTypeName(y.dtype), y.shape.ToString());
  }
  if (y.dtype == DType::kFloat32) {
    AddTo(addend.data<float>(), y.as<float>());
  } else if (y.dtype == DType::kFloat64) {
    AddTo(addend.data<double>(), y.as<double>());
  } else {
    return UnimplementedError("a residual of {} is not supported", DTypeName(y.dtype));
  }
  return OkStatus();
}

}  // namespace kheya
