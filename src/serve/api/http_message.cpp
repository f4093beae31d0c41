#include "serve/api/http_message.h"

#include "base/json.h"
#include "base/string_util.h"

namespace kheya {

const std::string* HttpRequest::FindHeader(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (EqualsIgnoreCase(key, name)) return &value;
  }
  return nullptr;
}

std::string HttpRequest::MediaType() const {
  const std::string* value = FindHeader("content-type");
  if (value == nullptr) return "";
  return ToLower(Trim(std::string_view(*value).substr(0, value->find(';'))));
}

int HttpStatusOf(StatusCode code) {
  if (code == StatusCode::kResourceExhausted) return 503;
  return GetStatusCodeInfo(code).http_status;
}

HttpResponse ErrorResponse(int http_status, std::string_view message) {
  HttpResponse response;
  response.status = http_status;
  Json body = Json::Object();
  body["error"] = message;
  response.body = body.Dump() + "\n";
  if (http_status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse ErrorResponse(const Status& status) {
  std::string message = status.message();
  if (!status.hint().empty()) message += "; " + status.hint();
  return ErrorResponse(HttpStatusOf(status.code()), message);
}

}  // namespace kheya
