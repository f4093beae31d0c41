#include "serve/api/prediction_json.h"

#include "serve/api/tensor_json.h"

namespace kheya {

Status AppendPrediction(const InferResponse& answer, std::string* out) {
  const bool several = answer.outputs.size() != 1;
  out->append(several ? "\"prediction\": {" : "\"prediction\": ");
  for (size_t i = 0; i < answer.outputs.size(); ++i) {
    const InferOutput& output = answer.outputs[i];
    if (several) {
      if (i > 0) out->append(", ");
      AppendJsonString(output.name, out);
      out->append(": ");
    }
    if (Status status = AppendJsonValue(output.value, out); !status.ok()) {
      return std::move(status).WithContext("output '{}'", output.name);
    }
  }
  if (several) out->push_back('}');
  return OkStatus();
}

}  // namespace kheya
