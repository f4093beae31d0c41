#include "hostile/digest_model.h"

#include <chrono>
#include <ctime>

#include "engine/engine.h"
#include "formats/formats.h"

namespace kheya::test {
namespace {

constexpr uint64_t kBudgetBytes = uint64_t{256} << 20;
constexpr std::chrono::milliseconds kRunTime(150);
// Of what the type leaves open.
constexpr int64_t kSize = 2;

void Fill(Tensor& tensor) {
  const int64_t count = tensor.num_elements();
  for (int64_t i = 0; i < count; ++i) {
    switch (tensor.dtype()) {
      case DType::kFloat32:
        tensor.mutable_data<float>()[i] = static_cast<float>(i % 7 - 3);
        break;
      case DType::kInt64:
        tensor.mutable_data<int64_t>()[i] = i % 3;
        break;
      case DType::kInt32:
        tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(i % 3);
        break;
      case DType::kUint8:
        tensor.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i);
        break;
      case DType::kBool:
        tensor.mutable_data<bool>()[i] = true;
        break;
      case DType::kString:
        tensor.mutable_data<std::string>()[i] = i % 2 == 0 ? "a b" : "";
        break;
      default:
        return;
    }
  }
}

Result<Value> SmallTensor(const ValueType& type, const std::shared_ptr<MemoryBudget>& budget) {
  std::vector<int64_t> dims{kSize};
  if (type.shape) {
    dims.clear();
    for (const Dim& dim : *type.shape) dims.push_back(dim.known() ? dim.value() : kSize);
  }
  const DType dtype = type.dtype == DType::kUndefined ? DType::kFloat32 : type.dtype;
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Zeros(dtype, shape, budget));
  Fill(tensor);
  return Value(std::move(tensor));
}

Result<Value> SmallValue(const ValueType& type, const std::shared_ptr<MemoryBudget>& budget) {
  using Kind = ValueType::Kind;
  if (type.kind == Kind::kTensor || type.kind == Kind::kUnknown) return SmallTensor(type, budget);
  if (type.element == nullptr) return InvalidArgumentError("found a type without elements");
  KHEYA_ASSIGN_OR_RETURN(Value element, SmallValue(*type.element, budget));
  if (type.kind == Kind::kOptional) return element;
  if (type.kind == Kind::kSequence) return Value(Sequence{element, element});
  if (type.dtype == DType::kString) return Value(StringMap{{"", element}, {"a", element}});
  return Value(Int64Map{{-1, element}, {1, element}});
}

Status RunOnce(CompiledModel& model, const std::shared_ptr<MemoryBudget>& budget) {
  std::vector<Value> inputs;
  for (const TensorInfo& info : model.inputs()) {
    KHEYA_ASSIGN_OR_RETURN(inputs.emplace_back(), SmallValue(info.type, budget));
  }
  std::vector<Value> outputs(model.outputs().size());
  RunContext context;
  context.threads = 1;
  context.seed = 1;
  context.deadline = std::chrono::steady_clock::now() + kRunTime;
  return model.Run(context, inputs, outputs);
}

Status Digest(const std::string& path, bool& compiled) {
  KHEYA_ASSIGN_OR_RETURN(Model model, LoadModel(path, LoadOptions()));
  (void)GatherFacts(model);
  const Result<std::string> written = ExportOnnxBytes(model.graph, ExportOptions());
  if (!written.ok() && written.status().code() == StatusCode::kInternal) return written.status();
  CompileOptions options;
  options.budget = std::make_shared<MemoryBudget>("hostile", kBudgetBytes);
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<CompiledModel> ready,
                         CompileModel(std::move(model), options));
  compiled = true;
  return RunOnce(*ready, options.budget);
}

}  // namespace

Digested DigestModel(const std::string& path) {
  const std::clock_t start = std::clock();
  Digested digested;
  digested.status = Digest(path, digested.compiled);
  digested.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return digested;
}

}  // namespace kheya::test
