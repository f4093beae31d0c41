// JSON bodies of requests.
#ifndef KHEYA_SERVE_API_JSON_BODY_H_
#define KHEYA_SERVE_API_JSON_BODY_H_

#include <string_view>

#include "base/json_reader.h"
#include "base/status.h"

namespace kheya {

// A limit that a request passes (depth) is the client's mistake: InvalidArgument instead of
// ResourceExhausted. Other statuses stay as they are.
Status AsBadRequest(Status status);

// A reader of `body`, which must outlive it. InvalidArgument for an empty body.
Result<JsonReader> OpenJsonBody(std::string_view body);

}  // namespace kheya

#endif  // KHEYA_SERVE_API_JSON_BODY_H_
