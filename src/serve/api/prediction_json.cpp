#include "serve/api/prediction_json.h"

#include "serve/api/tensor_json.h"

namespace kheya {

Status AppendPrediction(const InferResponse& answer, AnswerBody* out) {
  const bool several = answer.outputs.size() != 1;
  KHEYA_RETURN_IF_ERROR(out->Append(several ? "\"prediction\": {" : "\"prediction\": "));
  for (size_t i = 0; i < answer.outputs.size(); ++i) {
    const InferOutput& output = answer.outputs[i];
    if (several) {
      std::string key = i > 0 ? ", " : "";
      AppendJsonString(output.name, &key);
      KHEYA_RETURN_IF_ERROR(out->Append(key + ": "));
    }
    if (Status status = AppendJsonValue(output.value, out); !status.ok()) {
      return std::move(status).WithContext("output '{}'", output.name);
    }
  }
  return out->Append(several ? "}" : "");
}

}  // namespace kheya
