#include "serve/core/served_model.h"

namespace kheya {
namespace {

std::optional<size_t> FindByName(const std::vector<TensorInfo>& infos, std::string_view name) {
  for (size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].name == name) return i;
  }
  return std::nullopt;
}

// A JSON request can carry it.
bool IsServable(const ValueType& type) {
  if (type.is_tensor()) return type.dtype != DType::kUndefined;
  return type.kind != ValueType::Kind::kSparseTensor && type.element && IsServable(*type.element);
}

Status CheckServable(const char* role, const std::vector<TensorInfo>& infos) {
  for (const TensorInfo& info : infos) {
    if (!IsServable(info.type)) {
      return UnimplementedError("{} '{}' is {}, which a request cannot carry", role, info.name,
                                info.type.ToString());
    }
  }
  return OkStatus();
}

}  // namespace

bool IsKserveTensor(const ValueType& type) {
  return type.is_tensor() && *GetDTypeInfo(type.dtype).kserve != '\0';
}

ServedModel::ServedModel(std::string name, std::string version,
                         std::shared_ptr<CompiledModel> compiled, ModelSpec spec)
    : name_(std::move(name)),
      version_(std::move(version)),
      compiled_(std::move(compiled)),
      spec_(std::move(spec)) {}

Result<std::shared_ptr<ServedModel>> ServedModel::Create(std::string name, std::string version,
                                                         std::shared_ptr<CompiledModel> compiled) {
  Result<ModelSpec> spec = ModelSpec::FromMetadata(compiled->metadata());
  if (!spec.ok()) return std::move(spec).status().WithContext("model '{}'", name);
  return Create(std::move(name), std::move(version), std::move(compiled), std::move(spec).value());
}

Result<std::shared_ptr<ServedModel>> ServedModel::Create(std::string name, std::string version,
                                                         std::shared_ptr<CompiledModel> compiled,
                                                         ModelSpec spec) {
  std::shared_ptr<ServedModel> model(
      new ServedModel(std::move(name), std::move(version), std::move(compiled), std::move(spec)));
  for (Status status :
       {CheckServable("input", model->inputs()), CheckServable("output", model->outputs())}) {
    if (!status.ok()) return std::move(status).WithContext("model '{}'", model->name_);
  }
  return model;
}

std::optional<size_t> ServedModel::FindInput(std::string_view name) const {
  return FindByName(inputs(), name);
}

std::optional<size_t> ServedModel::FindOutput(std::string_view name) const {
  return FindByName(outputs(), name);
}

Status ServedModel::CheckReady() const {
  switch (state()) {
    case ModelState::kReady:
      return OkStatus();
    case ModelState::kLoading:
      return UnavailableError("model '{}' is still loading", name_);
    case ModelState::kUnavailable:
      break;
  }
  return UnavailableError("model '{}' is not available", name_);
}

}  // namespace kheya
