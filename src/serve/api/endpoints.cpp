#include "serve/api/endpoints.h"

#include <algorithm>

#include "base/string_util.h"
#include "serve/api/handlers.h"

namespace kheya {
namespace {

// "GET, HEAD, POST" of the rows that match the path, in the order of the table.
void AddAllowed(std::string_view verb, std::vector<std::string>* allowed) {
  if (std::find(allowed->begin(), allowed->end(), verb) != allowed->end()) return;
  allowed->emplace_back(verb);
  if (verb == "GET") allowed->emplace_back("HEAD");
}

EndpointMatch Refuse(HttpResponse response) {
  EndpointMatch match;
  match.refusal = std::move(response);
  return match;
}

EndpointMatch RefuseVerb(std::string_view verb, const std::vector<std::string>& allowed) {
  const std::string list = Join(allowed, ", ");
  HttpResponse response =
      ErrorResponse(405, fmt::format("found method {}, expected {}", Abbreviate(verb, 20), list));
  response.headers.emplace_back("Allow", list);
  return Refuse(std::move(response));
}

}  // namespace

const std::vector<Endpoint>& EndpointTable() {
  static const std::vector<Endpoint> table = {
#define KHEYA_ENDPOINT(verb, path, work, handler, summary) \
  {verb, path, EndpointWork::work, handler, summary},
#include "serve/api/endpoints.inc"
#undef KHEYA_ENDPOINT
  };
  return table;
}

Endpoints::Endpoints(const ApiContext* context) : context_(context) {
  for (const Endpoint& endpoint : EndpointTable()) patterns_.emplace_back(endpoint.path);
}

EndpointMatch Endpoints::Match(std::string_view verb, std::string_view target) const {
  Result<std::vector<std::string>> segments = SplitTarget(target);
  if (!segments.ok()) return Refuse(ErrorResponse(segments.status()));
  std::vector<std::string> allowed;
  const std::vector<Endpoint>& table = EndpointTable();
  for (size_t i = 0; i < table.size(); ++i) {
    std::optional<PathCaptures> captures = patterns_[i].Match(*segments);
    if (!captures) continue;
    if (table[i].verb == verb || (verb == "HEAD" && table[i].verb == "GET")) {
      return {&table[i], std::move(*captures), {}};
    }
    AddAllowed(table[i].verb, &allowed);
  }
  if (!allowed.empty()) return RefuseVerb(verb, allowed);
  return Refuse(ErrorResponse(
      404, fmt::format("there is nothing at '{}'", EscapeControls(Abbreviate(target)))));
}

HttpResponse Endpoints::Call(const EndpointMatch& match, const HttpRequest& request) const {
  HttpResponse response;
  const Status status = match.endpoint->handler(*context_, match.captures, request, &response);
  return status.ok() ? response : ErrorResponse(status);
}

}  // namespace kheya
