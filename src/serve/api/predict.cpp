// POST /predict: rows of numbers as {"input": [[1.0, 2.0]]}, answered as {"prediction": [[...]]}.
#include "base/json_reader.h"
#include "base/string_util.h"
#include "serve/api/handlers.h"
#include "serve/api/json_body.h"
#include "serve/api/picture.h"
#include "serve/api/prediction_json.h"
#include "serve/api/tensor_json.h"
#include "serve/core/infer.h"

namespace kheya {
namespace {

// curl -d says form-urlencoded of whatever it sends, and some clients say nothing.
bool IsJsonType(std::string_view type) {
  return type.empty() || type == "application/json" || type == "text/json" ||
         type == "text/plain" || type == "application/x-www-form-urlencoded" ||
         EndsWith(type, "+json");
}

std::string ExpectedKeys(const ServedModel& model) {
  std::vector<std::string> keys;
  if (model.inputs().size() == 1 && model.inputs()[0].name != "input") keys.push_back("'input'");
  for (const TensorInfo& info : model.inputs()) keys.push_back(fmt::format("'{}'", info.name));
  return Join(keys, " or ");
}

Status ReadInput(JsonReader& reader, std::string_view key, InferRequest* request) {
  const ServedModel& model = *request->model;
  std::optional<size_t> index = model.FindInput(key);
  if (!index && key == "input" && model.inputs().size() == 1) index = 0;
  if (!index) {
    return InvalidArgumentError("found key '{}', expected {}", Abbreviate(key),
                                ExpectedKeys(model));
  }
  const TensorInfo& info = model.inputs()[*index];
  if (!request->inputs[*index].empty()) {
    return InvalidArgumentError("input '{}' is given twice", info.name);
  }
  Result<Value> value = ReadJsonValue(reader, info.type);
  if (!value.ok()) return std::move(value).status().WithContext("input '{}'", info.name);
  request->inputs[*index] = std::move(value).value();
  return OkStatus();
}

Status ReadBody(JsonReader& reader, InferRequest* request) {
  KHEYA_RETURN_IF_ERROR(reader.ReadObject([&](std::string_view key) -> Status {
    const bool by_name = key == "inputs" && !request->model->FindInput(key) &&
                         reader.Peek() == JsonReader::Type::kObject;
    if (!by_name) return ReadInput(reader, key, request);
    return reader.ReadObject(
        [&](std::string_view name) { return ReadInput(reader, name, request); });
  }));
  return reader.Finish();
}

}  // namespace

Status HandlePredict(const ApiContext& context, const PathCaptures&, const HttpRequest& http,
                     HttpResponse* response) {
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<ServedModel> model, context.repository->Only());
  const std::string type = http.MediaType();
  if (StartsWith(type, "image/")) return PredictPicture(model, http, response);
  if (!IsJsonType(type)) {
    *response = ErrorResponse(
        415, fmt::format("found content-type '{}', expected application/json or image/*",
                         EscapeControls(Abbreviate(type))));
    return OkStatus();
  }
  InferRequest request;
  request.model = std::move(model);
  request.deadline = http.deadline;
  request.cancel = http.cancel;
  request.inputs.resize(request.model->inputs().size());
  KHEYA_ASSIGN_OR_RETURN(JsonReader reader, OpenJsonBody(http.body));
  KHEYA_RETURN_IF_ERROR(AsBadRequest(ReadBody(reader, &request)));
  KHEYA_ASSIGN_OR_RETURN(const InferResponse answer, Infer(request));
  AnswerBody body(request.deadline, request.cancel);
  KHEYA_RETURN_IF_ERROR(body.Append("{"));
  KHEYA_RETURN_IF_ERROR(AppendPrediction(answer, &body));
  KHEYA_RETURN_IF_ERROR(body.Append("}\n"));
  std::move(body).MoveTo(response);
  return OkStatus();
}

}  // namespace kheya
