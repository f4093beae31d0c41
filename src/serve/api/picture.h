// POST /predict with a picture as the body.
#ifndef KHEYA_SERVE_API_PICTURE_H_
#define KHEYA_SERVE_API_PICTURE_H_

#include <memory>

#include "base/status.h"
#include "serve/api/http_message.h"
#include "serve/core/served_model.h"

namespace kheya {

// Decodes a picture (codec/picture.h; by its content, not by its type), prepares it as the model's
// spec says and answers {"prediction": [[...]], "label": "...", "top": [{"index", "score",
// "label"}]}. "top" holds the best five classes, with scores as the spec's postprocessing says; it
// is there for outputs of class scores alone, and labels where the spec has them.
// 415 when the model takes no pictures; InvalidArgument for a body that is none.
Status PredictPicture(const std::shared_ptr<ServedModel>& model, const HttpRequest& http,
                      HttpResponse* response);

}  // namespace kheya

#endif  // KHEYA_SERVE_API_PICTURE_H_
