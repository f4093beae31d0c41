#include "app/random_inputs.h"

#include <cmath>

#include "base/random.h"
#include "tensor/small_types.h"

namespace kheya {
namespace {

using Symbols = std::map<std::string, int64_t>;

// The numbers that given shapes put in the place of symbols.
Symbols SymbolsOf(const std::vector<TensorInfo>& infos,
                  const std::map<std::string, Shape>& shapes) {
  Symbols symbols;
  for (const TensorInfo& info : infos) {
    const auto given = shapes.find(info.name);
    if (given == shapes.end() || !info.type.shape) continue;
    for (int i = 0; i < given->second.rank(); ++i) {
      if (const auto symbol = (*info.type.shape)[i].symbol()) symbols[*symbol] = given->second[i];
    }
  }
  return symbols;
}

Result<Shape> ChooseShape(const TensorInfo& info, int64_t batch, const Symbols& symbols) {
  if (!info.type.is_tensor() && info.type.kind != ValueType::Kind::kUnknown) {
    return InvalidArgumentError("input '{}': found {}, only tensors can be made up", info.name,
                                info.type.ToString())
        .WithHint(fmt::format("give it as JSON: kheya run MODEL --input {}=...", info.name));
  }
  if (!info.type.is_tensor() || !info.type.shape) {
    return InvalidArgumentError("input '{}': the rank is not known", info.name)
        .WithHint("give its shape with --shape " + info.name + "=1x3x224x224");
  }
  std::vector<int64_t> dims;
  for (const Dim& dim : *info.type.shape) {
    const bool first = dims.empty();
    if (first && batch > 0 && dim.known() && dim.value() != batch) {
      return InvalidArgumentError("input '{}': found batch {}, expected {}, which the model fixes",
                                  info.name, batch, dim.value());
    }
    const auto bound = symbols.find(dim.symbol().value_or(""));
    const int64_t open = bound != symbols.end() ? bound->second : first && batch > 0 ? batch : 1;
    dims.push_back(dim.known() ? dim.value() : open);
  }
  return Shape::Create(dims);
}

template <typename T>
void FillIntegers(Random& random, std::span<T> out) {
  for (T& value : out) value = static_cast<T>(random.UniformInt(2));
}

template <typename T>
void FillFloats(Random& random, std::span<T> out) {
  for (T& value : out) value = static_cast<T>(random.Uniform(-1.0f, 1.0f));
}

void FillSmall(Random& random, MutableTensorView view) {
  for (int64_t i = 0; i < view.shape.num_elements(); ++i) {
    uint8_t code = 0;
    if (IsSmallInteger(view.dtype)) {
      code = IntegerToSmall(view.dtype, static_cast<int64_t>(random.UniformInt(2)));
    } else {
      const float number = random.Uniform(-1.0f, 1.0f);
      const bool positive = view.dtype == DType::kFloat8E8M0;
      code = DoubleToSmall(view.dtype, positive ? std::abs(number) : number, SmallOptions());
    }
    SetCode(view.dtype, view.data, i, code);
  }
}

void FillStrings(Random& random, std::span<std::string> out) {
  constexpr int kMostLetters = 8;
  for (std::string& text : out) {
    text.resize(1 + random.UniformInt(kMostLetters));
    for (char& letter : text) letter = static_cast<char>('a' + random.UniformInt(26));
  }
}

// As many numbers as there are parts of complex ones.
template <typename T>
std::span<T> Parts(MutableTensorView view) {
  return {static_cast<T*>(view.data), static_cast<size_t>(2 * view.shape.num_elements())};
}

Status Fill(Random& random, MutableTensorView view) {
  if (IsSmall(view.dtype)) {
    FillSmall(random, view);
    return OkStatus();
  }
  switch (view.dtype) {
    case DType::kFloat32:
      FillFloats(random, view.as<float>());
      return OkStatus();
    case DType::kFloat64:
      FillFloats(random, view.as<double>());
      return OkStatus();
    case DType::kFloat16:
      FillFloats(random, view.as<Float16>());
      return OkStatus();
    case DType::kBFloat16:
      FillFloats(random, view.as<BFloat16>());
      return OkStatus();
    case DType::kInt8:
      FillIntegers(random, view.as<int8_t>());
      return OkStatus();
    case DType::kInt16:
      FillIntegers(random, view.as<int16_t>());
      return OkStatus();
    case DType::kInt32:
      FillIntegers(random, view.as<int32_t>());
      return OkStatus();
    case DType::kInt64:
      FillIntegers(random, view.as<int64_t>());
      return OkStatus();
    case DType::kUint8:
      FillIntegers(random, view.as<uint8_t>());
      return OkStatus();
    case DType::kUint16:
      FillIntegers(random, view.as<uint16_t>());
      return OkStatus();
    case DType::kUint32:
      FillIntegers(random, view.as<uint32_t>());
      return OkStatus();
    case DType::kUint64:
      FillIntegers(random, view.as<uint64_t>());
      return OkStatus();
    case DType::kBool:
      FillIntegers(random, view.as<bool>());
      return OkStatus();
    case DType::kComplex64:
      FillFloats(random, Parts<float>(view));
      return OkStatus();
    case DType::kComplex128:
      FillFloats(random, Parts<double>(view));
      return OkStatus();
    case DType::kString:
      FillStrings(random, view.as<std::string>());
      return OkStatus();
    default:
      return UnimplementedError("random values of type {} are not supported",
                                DTypeName(view.dtype));
  }
}

}  // namespace

Result<std::map<std::string, Shape>> ChooseShapes(const std::vector<TensorInfo>& infos,
                                                  const std::map<std::string, Shape>& shapes,
                                                  int64_t batch) {
  std::map<std::string, Shape> chosen;
  for (const TensorInfo& info : infos) {
    const auto given = shapes.find(info.name);
    if (given == shapes.end()) continue;
    if (info.type.shape && !Matches(*info.type.shape, given->second)) {
      return InvalidArgumentError("input '{}': found shape {}, expected {}", info.name,
                                  given->second.ToString(), info.type.ToString());
    }
    chosen.emplace(info.name, given->second);
  }
  for (const auto& [name, shape] : shapes) {
    if (!chosen.contains(name)) return InvalidArgumentError("the model has no input '{}'", name);
  }
  const Symbols symbols = SymbolsOf(infos, chosen);
  for (const TensorInfo& info : infos) {
    if (chosen.contains(info.name)) continue;
    KHEYA_ASSIGN_OR_RETURN(Shape shape, ChooseShape(info, batch, symbols));
    chosen.emplace(info.name, shape);
  }
  return chosen;
}

Result<std::vector<Value>> RandomInputs(const std::vector<TensorInfo>& infos,
                                        const std::map<std::string, Shape>& shapes, uint64_t seed) {
  Random random(seed);
  std::vector<Value> values;
  for (const TensorInfo& info : infos) {
    KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Zeros(info.type.dtype, shapes.at(info.name)));
    Status status = Fill(random, tensor.mutable_view());
    if (!status.ok()) return std::move(status).WithContext("input '{}'", info.name);
    values.emplace_back(std::move(tensor));
  }
  return values;
}

}  // namespace kheya
