// OpenVINO through its C library, without its headers.
#include "worker/engine.h"

namespace kheya {
namespace {

using Handle = void*;

// ov_shape_t.
struct OvShape {
  int64_t rank;
  int64_t* dims;
};

// ov_element_type_e, of the types that benchmarks have.
constexpr std::pair<DType, int> kTypes[] = {{DType::kFloat32, 4}, {DType::kFloat64, 5},
                                            {DType::kInt32, 9},   {DType::kInt64, 10},
                                            {DType::kUint8, 16},  {DType::kInt8, 7}};

class OpenVinoEngine : public Engine {
 public:
  explicit OpenVinoEngine(void* library) : library_(library) {}

  Status Load(const ModelOptions& options, const std::vector<Tensor>& inputs) override {
    Handle core = nullptr;
    KHEYA_RETURN_IF_ERROR(Call("ov_core_create", &core));
    KHEYA_RETURN_IF_ERROR(Compile(core, options));
    KHEYA_RETURN_IF_ERROR(Call("ov_compiled_model_create_infer_request", compiled_, &request_));
    kept_ = inputs;
    for (size_t i = 0; i < kept_.size(); ++i) KHEYA_RETURN_IF_ERROR(SetInput(i));
    KHEYA_ASSIGN_OR_RETURN(void* infer, FindSymbol(library_, "ov_infer_request_infer"));
    infer_ = reinterpret_cast<int (*)(Handle)>(infer);
    return OkStatus();
  }

  Status Run() override {
    const int code = infer_(request_);
    return code == 0 ? OkStatus() : InternalError("ov_infer_request_infer: code {}", code);
  }

  Result<std::vector<Tensor>> Outputs() override {
    size_t count = 0;
    KHEYA_RETURN_IF_ERROR(Call("ov_compiled_model_outputs_size", compiled_, &count));
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < count; ++i) {
      KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Output(i));
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

 private:
  template <typename... Arguments>
  Status Call(const char* name, Arguments... arguments) {
    KHEYA_ASSIGN_OR_RETURN(void* symbol, FindSymbol(library_, name));
    const int code = reinterpret_cast<int (*)(Arguments...)>(symbol)(arguments...);
    return code == 0 ? OkStatus() : InternalError("{}: code {}", name, code);
  }

  Status Compile(Handle core, const ModelOptions& options) {
    KHEYA_ASSIGN_OR_RETURN(void* symbol, FindSymbol(library_, "ov_core_compile_model_from_file"));
    using Function = int (*)(Handle, const char*, const char*, size_t, Handle*, ...);
    const std::string threads = std::to_string(options.threads);
    const int code = reinterpret_cast<Function>(symbol)(
        core, options.model.c_str(), "CPU", 6, &compiled_, "INFERENCE_NUM_THREADS", threads.c_str(),
        "PERFORMANCE_HINT", "LATENCY", "INFERENCE_PRECISION_HINT", "f32");
    return code == 0 ? OkStatus() : InternalError("ov_core_compile_model_from_file: code {}", code);
  }

  Status SetInput(size_t index) {
    const Tensor& input = kept_[index];
    std::vector<int64_t> dims(input.shape().dims().begin(), input.shape().dims().end());
    OvShape shape{};
    KHEYA_RETURN_IF_ERROR(
        Call("ov_shape_create", static_cast<int64_t>(dims.size()), dims.data(), &shape));
    for (const auto& [dtype, type] : kTypes) {
      if (dtype != input.dtype()) continue;
      Handle tensor = nullptr;
      KHEYA_RETURN_IF_ERROR(Call("ov_tensor_create_from_host_ptr", type, shape,
                                 const_cast<std::byte*>(input.bytes().data()), &tensor));
      return Call("ov_infer_request_set_input_tensor_by_index", request_, index, tensor);
    }
    return UnimplementedError("input {}: no type of OpenVINO for {}", index, input.TypeString());
  }

  Result<Tensor> Output(size_t index) {
    Handle tensor = nullptr;
    OvShape shape{};
    int found = 0;
    void* data = nullptr;
    KHEYA_RETURN_IF_ERROR(
        Call("ov_infer_request_get_output_tensor_by_index", request_, index, &tensor));
    KHEYA_RETURN_IF_ERROR(Call("ov_tensor_get_shape", tensor, &shape));
    KHEYA_RETURN_IF_ERROR(Call("ov_tensor_get_element_type", tensor, &found));
    KHEYA_RETURN_IF_ERROR(Call("ov_tensor_data", tensor, &data));
    KHEYA_ASSIGN_OR_RETURN(
        const Shape dims, Shape::Create(std::vector<int64_t>(shape.dims, shape.dims + shape.rank)));
    for (const auto& [dtype, type] : kTypes) {
      if (type != found) continue;
      const size_t bytes = BytesFor(dtype, dims.num_elements());
      return Tensor::Borrow(dtype, dims, {static_cast<std::byte*>(data), bytes}, nullptr);
    }
    return UnimplementedError("output {}: OpenVINO's type {} is not known here", index, found);
  }

  void* library_;
  Handle compiled_ = nullptr;
  Handle request_ = nullptr;
  int (*infer_)(Handle) = nullptr;
  std::vector<Tensor> kept_;
};

}  // namespace

Result<std::unique_ptr<Engine>> OpenOpenVino(const std::string& path) {
  KHEYA_ASSIGN_OR_RETURN(void* library, OpenLibrary(path));
  return std::unique_ptr<Engine>(new OpenVinoEngine(library));
}

}  // namespace kheya
