// The endpoints under /v2: KServe's Open Inference Protocol.
#include "base/json.h"
#include "base/version.h"
#include "serve/api/handlers.h"
#include "serve/api/kserve_request.h"
#include "serve/api/tensor_binary.h"
#include "serve/api/tensor_json.h"

namespace kheya {
namespace {

void SetJson(const Json& json, HttpResponse* response) { response->body = json.Dump() + "\n"; }

std::string_view Capture(const PathCaptures& captures, std::string_view name) {
  for (const auto& [key, value] : captures) {
    if (key == name) return value;
  }
  return {};
}

Result<std::shared_ptr<ServedModel>> FindModel(const ApiContext& context,
                                               const PathCaptures& captures) {
  return context.repository->Find(Capture(captures, "name"), Capture(captures, "version"));
}

Json Describe(const std::vector<TensorInfo>& infos) {
  Json list = Json::Array();
  for (const TensorInfo& info : infos) {
    if (!IsKserveTensor(info.type)) continue;  // sequences and maps go through /predict
    Json entry = Json::Object();
    entry["name"] = info.name;
    entry["datatype"] = GetDTypeInfo(info.type.dtype).kserve;
    Json shape = Json::Array();
    if (!info.type.shape) shape.Append(-1);
    for (const Dim& dim : info.type.shape.value_or(SymbolicShape())) {
      shape.Append(dim.maybe().value_or(-1));
    }
    entry["shape"] = std::move(shape);
    list.Append(std::move(entry));
  }
  return list;
}

// One entry of "outputs"; binary bytes go behind the JSON.
Status AppendOutput(const InferOutput& output, bool binary, AnswerBody* json, AnswerBody* tail) {
  if (!output.value.is_tensor()) {
    return InvalidArgumentError("it is {}, which this protocol does not carry",
                                TypeOf(output.value).ToString());
  }
  const Tensor& tensor = output.value.tensor();
  std::string start = "{\"name\":";
  AppendJsonString(output.name, &start);
  KHEYA_RETURN_IF_ERROR(
      json->Append(fmt::format("{},\"datatype\":\"{}\",\"shape\":{}", start,
                               GetDTypeInfo(tensor.dtype()).kserve, tensor.shape().ToString())));
  if (binary) {
    KHEYA_ASSIGN_OR_RETURN(const size_t size, AppendBinaryTensor(tensor, tail));
    return json->Append(fmt::format(",\"parameters\":{{\"binary_data_size\":{}}}}}", size));
  }
  KHEYA_RETURN_IF_ERROR(json->Append(",\"data\":"));
  KHEYA_RETURN_IF_ERROR(AppendJsonElements(tensor, json));
  return json->Append("}");
}

// What stands before the outputs.
std::string StartOf(const KserveRequest& request) {
  const ServedModel& model = *request.infer.model;
  std::string json = "{";
  if (!request.infer.id.empty()) {
    json.append("\"id\":");
    AppendJsonString(request.infer.id, &json);
    json.push_back(',');
  }
  json.append("\"model_name\":");
  AppendJsonString(model.name(), &json);
  json.append(",\"model_version\":");
  AppendJsonString(model.version(), &json);
  json.append(",\"outputs\":[");
  return json;
}

Status WriteAnswer(const KserveRequest& request, const InferResponse& answer,
                   HttpResponse* response) {
  AnswerBody json(request.infer.deadline, request.infer.cancel);
  AnswerBody tail(request.infer.deadline, request.infer.cancel);
  bool any_binary = false;
  KHEYA_RETURN_IF_ERROR(json.Append(StartOf(request)));
  for (size_t i = 0; i < answer.outputs.size(); ++i) {
    if (i > 0) KHEYA_RETURN_IF_ERROR(json.Append(","));
    const InferOutput& output = answer.outputs[i];
    any_binary = any_binary || request.binary[i];
    if (Status status = AppendOutput(output, request.binary[i], &json, &tail); !status.ok()) {
      return std::move(status).WithContext("output '{}'", output.name);
    }
  }
  KHEYA_RETURN_IF_ERROR(json.Append("]}"));
  if (any_binary) {
    response->content_type = "application/octet-stream";
    response->headers.emplace_back("Inference-Header-Content-Length",
                                   std::to_string(json.text().size()));
    KHEYA_RETURN_IF_ERROR(json.Append(tail.text()));
  }
  std::move(json).MoveTo(response);
  return OkStatus();
}

}  // namespace

Status HandleServerMetadata(const ApiContext&, const PathCaptures&, const HttpRequest&,
                            HttpResponse* response) {
  Json json = Json::Object();
  json["name"] = "kheya";
  json["version"] = kVersion;
  json["extensions"] = std::vector<std::string>{"binary_tensor_data", "classification"};
  SetJson(json, response);
  return OkStatus();
}

Status HandleServerLive(const ApiContext&, const PathCaptures&, const HttpRequest&,
                        HttpResponse* response) {
  Json json = Json::Object();
  json["live"] = true;
  SetJson(json, response);
  return OkStatus();
}

Status HandleServerReady(const ApiContext& context, const PathCaptures&, const HttpRequest&,
                         HttpResponse* response) {
  Json json = Json::Object();
  const bool ready = !context.stopping.load() && context.repository->AllReady();
  json["ready"] = ready;
  response->status = ready ? 200 : 503;
  SetJson(json, response);
  return OkStatus();
}

Status HandleModelMetadata(const ApiContext& context, const PathCaptures& captures,
                           const HttpRequest&, HttpResponse* response) {
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<ServedModel> model, FindModel(context, captures));
  Json json = Json::Object();
  json["name"] = model->name();
  json["versions"] = std::vector<std::string>{model->version()};
  json["platform"] = "kheya";
  json["inputs"] = Describe(model->inputs());
  json["outputs"] = Describe(model->outputs());
  SetJson(json, response);
  return OkStatus();
}

Status HandleModelReady(const ApiContext& context, const PathCaptures& captures, const HttpRequest&,
                        HttpResponse* response) {
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<ServedModel> model, FindModel(context, captures));
  Json json = Json::Object();
  const bool ready = !context.stopping.load() && model->CheckReady().ok();
  json["name"] = model->name();
  json["ready"] = ready;
  response->status = ready ? 200 : 503;
  SetJson(json, response);
  return OkStatus();
}

Status HandleInfer(const ApiContext& context, const PathCaptures& captures, const HttpRequest& http,
                   HttpResponse* response) {
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<ServedModel> model, FindModel(context, captures));
  KHEYA_RETURN_IF_ERROR(model->CheckReady());
  KHEYA_ASSIGN_OR_RETURN(const KserveRequest request, ParseKserveRequest(std::move(model), http));
  KHEYA_ASSIGN_OR_RETURN(const InferResponse answer, Infer(request.infer));
  return WriteAnswer(request, answer, response);
}

}  // namespace kheya
