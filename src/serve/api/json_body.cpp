#include "serve/api/json_body.h"

namespace kheya {

Status AsBadRequest(Status status) {
  if (status.code() != StatusCode::kResourceExhausted) return status;
  return InvalidArgumentError("{}", status.message());
}

Result<JsonReader> OpenJsonBody(std::string_view body) {
  if (body.empty()) return InvalidArgumentError("found an empty body, expected a json object");
  Result<JsonReader> reader = JsonReader::Open(body);
  if (!reader.ok()) return AsBadRequest(reader.status());
  return reader;
}

}  // namespace kheya
