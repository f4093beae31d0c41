// The endpoint table: which handler answers which verb and path. Rows are in endpoints.inc.
//
//   Endpoints endpoints(&context);
//   EndpointMatch match = endpoints.Match("POST", "/predict");
//   HttpResponse response = match.endpoint ? endpoints.Call(match, request) : match.refusal;
#ifndef KHEYA_SERVE_API_ENDPOINTS_H_
#define KHEYA_SERVE_API_ENDPOINTS_H_

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "serve/api/http_message.h"
#include "serve/api/path_pattern.h"
#include "serve/core/model_repository.h"

namespace kheya {

// What handlers see of the server. Outlives them.
struct ApiContext {
  ModelRepository* repository = nullptr;
  std::atomic<bool> stopping{false};  // the shutdown has begun: no longer ready
};

enum class EndpointWork { kNone, kModel };

// Fills `response`, or fails with what becomes {"error": ...}.
using EndpointHandler = Status (*)(const ApiContext& context, const PathCaptures& captures,
                                   const HttpRequest& request, HttpResponse* response);

struct Endpoint {
  std::string_view verb;
  std::string_view path;
  EndpointWork work;
  EndpointHandler handler;
  std::string_view summary;
};

// The rows of endpoints.inc.
const std::vector<Endpoint>& EndpointTable();

struct EndpointMatch {
  const Endpoint* endpoint = nullptr;  // null: `refusal` is the answer (400, 404 or 405)
  PathCaptures captures;
  HttpResponse refusal;
};

// Thread safety: all members.
class Endpoints {
 public:
  explicit Endpoints(const ApiContext* context);
  EndpointMatch Match(std::string_view verb, std::string_view target) const;
  // The answer of a match that has an endpoint; errors come as {"error": ...}.
  HttpResponse Call(const EndpointMatch& match, const HttpRequest& request) const;

 private:
  const ApiContext* context_;
  std::vector<PathPattern> patterns_;  // one a row
};

}  // namespace kheya

#endif  // KHEYA_SERVE_API_ENDPOINTS_H_
