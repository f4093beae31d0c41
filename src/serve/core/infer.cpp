#include "serve/core/infer.h"

#include "base/string_util.h"
#include "runtime/run_context.h"
#include "serve/core/classification.h"

namespace kheya {
namespace {

Status AppendOutput(const ServedModel& model, const RequestedOutput& wanted,
                    const std::vector<Value>& values, InferResponse* response) {
  if (wanted.index >= values.size()) {
    return InvalidArgumentError("found output {}, expected one below {}", wanted.index,
                                values.size());
  }
  const std::string& name = model.outputs()[wanted.index].name;
  const Value& value = values[wanted.index];
  if (wanted.classes == 0) {
    response->outputs.push_back({name, value});
    return OkStatus();
  }
  if (!value.is_tensor()) {
    return InvalidArgumentError("output '{}' is no tensor, which classification needs", name);
  }
  Result<Tensor> classes = Classify(value.tensor(), wanted.classes, model.spec().labels);
  if (!classes.ok()) return std::move(classes).status().WithContext("output '{}'", name);
  response->outputs.push_back({name, std::move(classes).value()});
  return OkStatus();
}

}  // namespace

Status CheckComplete(const InferRequest& request) {
  const std::vector<TensorInfo>& infos = request.model->inputs();
  std::vector<std::string> missing;
  for (size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].type.kind == ValueType::Kind::kOptional) continue;
    if (i >= request.inputs.size() || request.inputs[i].empty()) {
      missing.push_back(fmt::format("'{}' ({})", infos[i].name, infos[i].type.ToString()));
    }
  }
  if (missing.empty()) return OkStatus();
  return InvalidArgumentError("model '{}' also needs input {}", request.model->name(),
                              Join(missing, ", "));
}

Result<InferResponse> Infer(const InferRequest& request) {
  const ServedModel& model = *request.model;
  KHEYA_RETURN_IF_ERROR(model.CheckReady());
  KHEYA_RETURN_IF_ERROR(CheckComplete(request));
  RunContext context;
  context.deadline = request.deadline;
  context.cancel = request.cancel;
  KHEYA_RETURN_IF_ERROR(context.CheckAlive());
  std::vector<Value> values(model.outputs().size());
  if (Status status = model.compiled().Run(context, request.inputs, values); !status.ok()) {
    return std::move(status).WithContext("model '{}'", model.name());
  }
  InferResponse response;
  for (const RequestedOutput& wanted : request.outputs) {
    KHEYA_RETURN_IF_ERROR(AppendOutput(model, wanted, values, &response));
  }
  if (!request.outputs.empty()) return response;
  for (size_t i = 0; i < values.size(); ++i) {
    KHEYA_RETURN_IF_ERROR(AppendOutput(model, {.index = i}, values, &response));
  }
  return response;
}

}  // namespace kheya
