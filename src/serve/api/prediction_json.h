// What /predict answers.
#ifndef KHEYA_SERVE_API_PREDICTION_JSON_H_
#define KHEYA_SERVE_API_PREDICTION_JSON_H_

#include "base/status.h"
#include "serve/api/answer_body.h"
#include "serve/core/infer.h"

namespace kheya {

// Appends "prediction": and the output, nested as its shape says; several outputs are an object by
// name. The braces around are the caller's.
Status AppendPrediction(const InferResponse& answer, AnswerBody* out);

}  // namespace kheya

#endif  // KHEYA_SERVE_API_PREDICTION_JSON_H_
