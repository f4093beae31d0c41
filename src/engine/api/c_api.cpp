#include <kheya/kheya.h>

#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "base/version.h"
#include "engine/engine.h"

struct kheya_model {
  std::shared_ptr<kheya::CompiledModel> compiled;
  int threads = 0;
  std::vector<std::vector<int64_t>> input_dims;
  std::vector<std::vector<int64_t>> output_dims;
};

struct kheya_session {
  std::shared_ptr<kheya::CompiledModel> compiled;
  kheya::RunContext context;
  std::vector<kheya::Value> inputs;
  std::vector<kheya::Value> outputs;
};

namespace {

thread_local std::string last_error;

kheya_code Fail(const kheya::Status& status) {
  last_error = status.message();
  return static_cast<kheya_code>(status.code());
}

// Runs `body` and turns its status, or what it throws, into a code: nothing leaves through the ABI.
template <typename Body>
kheya_code Guard(Body&& body) {
  try {
    const kheya::Status status = body();
    return status.ok() ? 0 : Fail(status);
  } catch (const std::bad_alloc&) {
    return Fail(kheya::ResourceExhaustedError("out of memory"));
  } catch (const std::exception& e) {
    return Fail(kheya::InternalError("unexpected exception: {}", e.what()));
  }
}

// `info` begins with its size: only fields within it are written.
constexpr size_t kTensorSizeV1 = sizeof(kheya_tensor);

// What callers of each version were compiled with.
constexpr size_t kOptionsSizeV1 = offsetof(kheya_options, precision);
constexpr size_t kOptionsSizeV2 = sizeof(kheya_options);

kheya::Status CheckTensorStruct(const kheya_tensor* tensor) {
  if (tensor == nullptr) return kheya::InvalidArgumentError("found a null tensor");
  if (tensor->struct_size < kTensorSizeV1) {
    return kheya::InvalidArgumentError("found struct_size {}, expected at least {}",
                                       tensor->struct_size, kTensorSizeV1);
  }
  return kheya::OkStatus();
}

std::vector<std::vector<int64_t>> DimsOf(const std::vector<kheya::TensorInfo>& infos) {
  std::vector<std::vector<int64_t>> all;
  for (const kheya::TensorInfo& info : infos) {
    std::vector<int64_t> dims;
    if (info.type.shape) {
      for (const kheya::Dim& dim : *info.type.shape) dims.push_back(dim.known() ? dim.value() : -1);
    }
    all.push_back(std::move(dims));
  }
  return all;
}

kheya::Status CheckIndex(int32_t index, size_t count, const char* what) {
  if (index >= 0 && static_cast<size_t>(index) < count) return kheya::OkStatus();
  return kheya::OutOfRangeError("found {} {}, expected 0 to {}", what, index,
                                static_cast<int64_t>(count) - 1);
}

kheya::Status FillInfo(const std::vector<kheya::TensorInfo>& infos,
                       const std::vector<std::vector<int64_t>>& dims, int32_t index,
                       kheya_tensor* out) {
  KHEYA_RETURN_IF_ERROR(CheckTensorStruct(out));
  KHEYA_RETURN_IF_ERROR(CheckIndex(index, infos.size(), "index"));
  const kheya::TensorInfo& info = infos[index];
  out->name = info.name.c_str();
  out->dtype = static_cast<int32_t>(info.type.dtype);
  out->rank = info.type.shape ? static_cast<int32_t>(dims[index].size()) : -1;
  out->dims = dims[index].data();
  out->data = nullptr;
  out->data_bytes = 0;
  return kheya::OkStatus();
}

kheya::Result<kheya::Tensor> CopyTensor(const kheya_tensor& tensor) {
  const std::optional<kheya::DType> dtype = kheya::DTypeFromOnnx(tensor.dtype);
  if (!dtype || *dtype == kheya::DType::kString) {
    return kheya::InvalidArgumentError("found element type {}, expected a kheya_dtype",
                                       tensor.dtype);
  }
  if (tensor.rank < 0 || tensor.rank > kheya::kMaxRank) {
    return kheya::InvalidArgumentError("found rank {}, expected 0 to {}", tensor.rank,
                                       kheya::kMaxRank);
  }
  if (tensor.rank > 0 && tensor.dims == nullptr) {
    return kheya::InvalidArgumentError("found null dims for rank {}", tensor.rank);
  }
  KHEYA_ASSIGN_OR_RETURN(kheya::Shape shape,
                         kheya::Shape::Create({tensor.dims, size_t(tensor.rank)}));
  const size_t expected = kheya::BytesFor(*dtype, shape.num_elements());
  if (tensor.data_bytes != expected) {
    return kheya::InvalidArgumentError("found {} bytes, expected {} for {}{}", tensor.data_bytes,
                                       expected, kheya::DTypeName(*dtype), shape.ToString());
  }
  if (tensor.data == nullptr && expected > 0) {
    return kheya::InvalidArgumentError("found null data, expected {} bytes", expected);
  }
  KHEYA_ASSIGN_OR_RETURN(kheya::Tensor copy, kheya::Tensor::Allocate(*dtype, shape));
  if (expected > 0) std::memcpy(copy.mutable_view().data, tensor.data, expected);
  return copy;
}

}  // namespace

int32_t kheya_abi_version(void) { return KHEYA_ABI_VERSION; }

const char* kheya_version(void) { return kheya::kVersion; }

const char* kheya_error_message(void) { return last_error.c_str(); }

const char* kheya_code_name(kheya_code code) {
  return kheya::GetStatusCodeInfo(static_cast<kheya::StatusCode>(code)).id;
}

kheya_code kheya_model_load(const char* path, const kheya_options* options, kheya_model** model) {
  return Guard([&]() -> kheya::Status {
    if (path == nullptr || model == nullptr) {
      return kheya::InvalidArgumentError("found a null path or model pointer");
    }
    *model = nullptr;
    kheya::CompileOptions compile;
    int threads = 0;
    if (options != nullptr) {
      if (options->struct_size < kOptionsSizeV1) {
        return kheya::InvalidArgumentError("found struct_size {}, expected at least {}",
                                           options->struct_size, kOptionsSizeV1);
      }
      if (options->device != nullptr) compile.device = options->device;
      if (options->threads < 0) {
        return kheya::InvalidArgumentError("found {} threads, expected 0 or more",
                                           options->threads);
      }
      threads = options->threads;
      if (options->struct_size >= kOptionsSizeV2) {
        if (options->precision != nullptr) compile.precision = options->precision;
        if (options->tolerance != 0) compile.tolerance = options->tolerance;
      }
    }
    auto made = std::make_unique<kheya_model>();
    KHEYA_ASSIGN_OR_RETURN(made->compiled,
                           kheya::LoadAndCompile(path, kheya::LoadOptions(), compile));
    made->threads = threads;
    made->input_dims = DimsOf(made->compiled->inputs());
    made->output_dims = DimsOf(made->compiled->outputs());
    *model = made.release();
    return kheya::OkStatus();
  });
}

void kheya_model_destroy(kheya_model* model) { delete model; }

int32_t kheya_model_input_count(const kheya_model* model) {
  return model == nullptr ? 0 : static_cast<int32_t>(model->compiled->inputs().size());
}

int32_t kheya_model_output_count(const kheya_model* model) {
  return model == nullptr ? 0 : static_cast<int32_t>(model->compiled->outputs().size());
}

kheya_code kheya_model_input(const kheya_model* model, int32_t index, kheya_tensor* info) {
  return Guard([&]() -> kheya::Status {
    if (model == nullptr) return kheya::InvalidArgumentError("found a null model");
    return FillInfo(model->compiled->inputs(), model->input_dims, index, info);
  });
}

kheya_code kheya_model_output(const kheya_model* model, int32_t index, kheya_tensor* info) {
  return Guard([&]() -> kheya::Status {
    if (model == nullptr) return kheya::InvalidArgumentError("found a null model");
    return FillInfo(model->compiled->outputs(), model->output_dims, index, info);
  });
}

const char* kheya_model_metadata(const kheya_model* model, const char* key) {
  if (model == nullptr || key == nullptr) return nullptr;
  for (const auto& [name, value] : model->compiled->metadata()) {
    if (name == key) return value.c_str();
  }
  return nullptr;
}

kheya_code kheya_session_create(const kheya_model* model, kheya_session** session) {
  return Guard([&]() -> kheya::Status {
    if (model == nullptr || session == nullptr) {
      return kheya::InvalidArgumentError("found a null model or session pointer");
    }
    auto made = std::make_unique<kheya_session>();
    made->compiled = model->compiled;
    made->context.threads = model->threads;
    made->inputs.resize(model->compiled->inputs().size());
    *session = made.release();
    return kheya::OkStatus();
  });
}

void kheya_session_destroy(kheya_session* session) { delete session; }

kheya_code kheya_session_set_input(kheya_session* session, int32_t index,
                                   const kheya_tensor* tensor) {
  return Guard([&]() -> kheya::Status {
    if (session == nullptr) return kheya::InvalidArgumentError("found a null session");
    KHEYA_RETURN_IF_ERROR(CheckTensorStruct(tensor));
    KHEYA_RETURN_IF_ERROR(CheckIndex(index, session->inputs.size(), "input"));
    kheya::Result<kheya::Tensor> copy = CopyTensor(*tensor);
    if (!copy.ok()) {
      return std::move(copy).status().WithContext("input '{}'",
                                                  session->compiled->inputs()[index].name);
    }
    session->inputs[index] = kheya::Value(std::move(copy).value());
    return kheya::OkStatus();
  });
}

kheya_code kheya_session_invoke(kheya_session* session) {
  return Guard([&]() -> kheya::Status {
    if (session == nullptr) return kheya::InvalidArgumentError("found a null session");
    for (size_t i = 0; i < session->inputs.size(); ++i) {
      if (session->inputs[i].empty()) {
        return kheya::FailedPreconditionError("input {} '{}' is not set", i,
                                              session->compiled->inputs()[i].name);
      }
    }
    session->outputs.assign(session->compiled->outputs().size(), kheya::Value());
    kheya::Status status =
        session->compiled->Run(session->context, session->inputs, session->outputs);
    if (!status.ok()) session->outputs.clear();
    return status;
  });
}

kheya_code kheya_session_get_output(const kheya_session* session, int32_t index,
                                    kheya_tensor* tensor) {
  return Guard([&]() -> kheya::Status {
    if (session == nullptr) return kheya::InvalidArgumentError("found a null session");
    KHEYA_RETURN_IF_ERROR(CheckTensorStruct(tensor));
    if (session->outputs.empty()) {
      return kheya::FailedPreconditionError("no successful invoke came before");
    }
    KHEYA_RETURN_IF_ERROR(CheckIndex(index, session->outputs.size(), "output"));
    const kheya::Value& value = session->outputs[index];
    if (!value.is_tensor() || value.tensor().dtype() == kheya::DType::kString) {
      return kheya::UnimplementedError("output {} is not a tensor of numbers", index);
    }
    const kheya::Tensor& result = value.tensor();
    tensor->name = session->compiled->outputs()[index].name.c_str();
    tensor->dtype = static_cast<int32_t>(result.dtype());
    tensor->rank = result.shape().rank();
    tensor->dims = result.shape().dims().data();
    tensor->data = result.bytes().data();
    tensor->data_bytes = result.num_bytes();
    return kheya::OkStatus();
  });
}
