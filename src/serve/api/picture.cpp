#include "serve/api/picture.h"

#include "data/postprocess.h"
#include "data/preprocess.h"
#include "serve/api/json_body.h"
#include "serve/api/prediction_json.h"
#include "serve/api/tensor_json.h"
#include "serve/core/infer.h"

namespace kheya {
namespace {

constexpr int64_t kTop = 5;

bool HasClassScores(const Value& value) {
  if (!value.is_tensor()) return false;
  const Tensor& tensor = value.tensor();
  const int rank = tensor.shape().rank();
  return tensor.dtype() == DType::kFloat32 && (rank == 1 || rank == 2) && tensor.num_elements() > 0;
}

Status AppendTop(const ModelSpec& spec, const Tensor& output, std::string* out) {
  KHEYA_ASSIGN_OR_RETURN(const auto rows, ClassScores(spec, output));
  const std::vector<RankedClass> top = TopClasses(spec, rows[0], kTop);
  if (!top[0].label.empty()) {
    out->append(", \"label\": ");
    AppendJsonString(top[0].label, out);
  }
  out->append(", \"top\": [");
  for (size_t i = 0; i < top.size(); ++i) {
    out->append(fmt::format("{}{{\"index\": {}, \"score\": ", i == 0 ? "" : ", ", top[i].index));
    AppendJsonFloat(top[i].score, out);
    if (!top[i].label.empty()) {
      out->append(", \"label\": ");
      AppendJsonString(top[i].label, out);
    }
    out->push_back('}');
  }
  out->push_back(']');
  return OkStatus();
}

}  // namespace

Status PredictPicture(const std::shared_ptr<ServedModel>& model, const HttpRequest& http,
                      HttpResponse* response) {
  const ModelSpec& spec = model->spec();
  const std::optional<size_t> index =
      spec.input.empty() ? std::optional<size_t>(0) : model->FindInput(spec.input);
  if (!spec.has_picture() || !index || *index >= model->inputs().size()) {
    *response = ErrorResponse(415, fmt::format("found a picture, expected application/json: the "
                                               "spec of model '{}' describes no picture",
                                               model->name()));
    return OkStatus();
  }
  InferRequest request;
  request.model = model;
  request.deadline = http.deadline;
  request.cancel = http.cancel;
  request.inputs.resize(model->inputs().size());
  Result<Tensor> tensor =
      PictureToTensor(spec, std::as_bytes(std::span(http.body.data(), http.body.size())));
  if (!tensor.ok()) return AsBadRequest(std::move(tensor).status()).WithContext("picture");
  request.inputs[*index] = std::move(tensor).value();
  KHEYA_ASSIGN_OR_RETURN(const InferResponse answer, Infer(request));
  AnswerBody body(request.deadline, request.cancel);
  KHEYA_RETURN_IF_ERROR(body.Append("{"));
  KHEYA_RETURN_IF_ERROR(AppendPrediction(answer, &body));
  std::string end;
  if (!answer.outputs.empty() && HasClassScores(answer.outputs[0].value)) {
    KHEYA_RETURN_IF_ERROR(AppendTop(spec, answer.outputs[0].value.tensor(), &end));
  }
  KHEYA_RETURN_IF_ERROR(body.Append(end + "}\n"));
  std::move(body).MoveTo(response);
  return OkStatus();
}

}  // namespace kheya
