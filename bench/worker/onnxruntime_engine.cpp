// ONNX Runtime through its C API, without its headers: the API is a table of functions in an order
// that never changes (functions are only added behind), of which a few are called here by place.
#include "worker/engine.h"

namespace kheya {
namespace {

// Places in the table of API version 1.
enum Place : size_t {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSession = 7,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetIntraOpNumThreads = 24,
  kSessionGetInputCount = 30,
  kSessionGetOutputCount = 31,
  kSessionGetInputName = 36,
  kSessionGetOutputName = 37,
  kCreateTensorWithDataAsOrtValue = 49,
  kGetTensorMutableData = 51,
  kGetTensorElementType = 60,
  kGetDimensionsCount = 61,
  kGetDimensions = 62,
  kGetTensorTypeAndShape = 65,
  kCreateCpuMemoryInfo = 69,
  kGetAllocatorWithDefaultOptions = 78,
};

constexpr uint32_t kApiVersion = 1;
constexpr int kLogErrors = 3;
constexpr int kDeviceAllocator = 0;
constexpr int kMemoryDefault = 0;

struct ApiBase {
  void* const* (*get_api)(uint32_t version);
  const char* (*get_version)();
};

// Handles are pointers to types that only the library knows.
using Handle = void*;

class OnnxRuntimeEngine : public Engine {
 public:
  explicit OnnxRuntimeEngine(void* const* api) : api_(api) {}

  Status Load(const ModelOptions& options, const std::vector<Tensor>& inputs) override {
    Handle environment = nullptr;
    Handle settings = nullptr;
    KHEYA_RETURN_IF_ERROR(Call(kCreateEnv, kLogErrors, "bench", &environment));
    KHEYA_RETURN_IF_ERROR(Call(kCreateSessionOptions, &settings));
    KHEYA_RETURN_IF_ERROR(Call(kSetIntraOpNumThreads, settings, options.threads));
    KHEYA_RETURN_IF_ERROR(
        Call(kCreateSession, environment, options.model.c_str(), settings, &session_));
    KHEYA_RETURN_IF_ERROR(Names(kSessionGetInputCount, kSessionGetInputName, &input_names_));
    KHEYA_RETURN_IF_ERROR(Names(kSessionGetOutputCount, kSessionGetOutputName, &output_names_));
    if (input_names_.size() != inputs.size()) {
      return InvalidArgumentError("found {} inputs in the model, expected {}", input_names_.size(),
                                  inputs.size());
    }
    outputs_.resize(output_names_.size());
    return MakeInputs(inputs);
  }

  Status Run() override {
    return Call(kRun, session_, Handle(), input_names_.data(), inputs_.data(), inputs_.size(),
                output_names_.data(), output_names_.size(), outputs_.data());
  }

  Result<std::vector<Tensor>> Outputs() override {
    std::vector<Tensor> tensors;
    for (Handle output : outputs_) {
      Handle info = nullptr;
      int type = 0;
      size_t rank = 0;
      void* data = nullptr;
      KHEYA_RETURN_IF_ERROR(Call(kGetTensorTypeAndShape, output, &info));
      KHEYA_RETURN_IF_ERROR(Call(kGetTensorElementType, info, &type));
      KHEYA_RETURN_IF_ERROR(Call(kGetDimensionsCount, info, &rank));
      std::vector<int64_t> dims(rank);
      KHEYA_RETURN_IF_ERROR(Call(kGetDimensions, info, dims.data(), rank));
      KHEYA_RETURN_IF_ERROR(Call(kGetTensorMutableData, output, &data));
      KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
      const auto dtype = static_cast<DType>(type);  // both number types as ONNX does
      const size_t bytes = BytesFor(dtype, shape.num_elements());
      KHEYA_ASSIGN_OR_RETURN(
          Tensor tensor,
          Tensor::Borrow(dtype, shape, {static_cast<std::byte*>(data), bytes}, nullptr));
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

 private:
  template <typename... Arguments>
  Status Call(Place place, Arguments... arguments) {
    const auto function = reinterpret_cast<Handle (*)(Arguments...)>(api_[place]);
    const Handle status = function(arguments...);
    if (status == nullptr) return OkStatus();
    const auto message = reinterpret_cast<const char* (*)(Handle)>(api_[kGetErrorMessage]);
    return InternalError("{}", message(status));
  }

  Status Names(Place counter, Place getter, std::vector<char*>* names) {
    Handle allocator = nullptr;
    size_t count = 0;
    KHEYA_RETURN_IF_ERROR(Call(kGetAllocatorWithDefaultOptions, &allocator));
    KHEYA_RETURN_IF_ERROR(Call(counter, session_, &count));
    for (size_t i = 0; i < count; ++i) {
      char* name = nullptr;
      KHEYA_RETURN_IF_ERROR(Call(getter, session_, i, allocator, &name));
      names->push_back(name);
    }
    return OkStatus();
  }

  Status MakeInputs(const std::vector<Tensor>& inputs) {
    Handle memory = nullptr;
    KHEYA_RETURN_IF_ERROR(Call(kCreateCpuMemoryInfo, kDeviceAllocator, kMemoryDefault, &memory));
    kept_ = inputs;
    for (const Tensor& input : kept_) {
      const auto dims = input.shape().dims();
      Handle value = nullptr;
      KHEYA_RETURN_IF_ERROR(Call(
          kCreateTensorWithDataAsOrtValue, memory, const_cast<std::byte*>(input.bytes().data()),
          input.num_bytes(), dims.data(), dims.size(), static_cast<int>(input.dtype()), &value));
      inputs_.push_back(value);
    }
    return OkStatus();
  }

  void* const* api_;
  Handle session_ = nullptr;
  std::vector<char*> input_names_;
  std::vector<char*> output_names_;
  std::vector<Tensor> kept_;
  std::vector<Handle> inputs_;
  std::vector<Handle> outputs_;  // null before the first run, which makes them
};

}  // namespace

Result<std::unique_ptr<Engine>> OpenOnnxRuntime(const std::string& path) {
  KHEYA_ASSIGN_OR_RETURN(void* library, OpenLibrary(path));
  KHEYA_ASSIGN_OR_RETURN(void* symbol, FindSymbol(library, "OrtGetApiBase"));
  const auto* base = reinterpret_cast<const ApiBase* (*)()>(symbol)();
  void* const* api = base->get_api(kApiVersion);
  if (api == nullptr) {
    return UnimplementedError("onnxruntime {} has no API version {}", base->get_version(),
                              kApiVersion);
  }
  return std::unique_ptr<Engine>(new OnnxRuntimeEngine(api));
}

}  // namespace kheya
