// An HTTP request and its answer, free of any HTTP library: what the transport hands to an
// endpoint and gets back.
#ifndef KHEYA_SERVE_API_HTTP_MESSAGE_H_
#define KHEYA_SERVE_API_HTTP_MESSAGE_H_

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/allocator.h"
#include "base/cpu_ledger.h"
#include "base/status.h"

namespace kheya {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string verb;    // "GET"
  std::string target;  // as it was sent: "/v2/models/a%20b?x=1"
  HttpHeaders headers;
  std::string_view body;  // borrowed
  Deadline deadline = kNoDeadline;
  const std::atomic<bool>* cancel = nullptr;

  // The first header of that name, whatever its case; null when there is none.
  const std::string* FindHeader(std::string_view name) const;
  // The Content-Type in lower case without parameters: "image/png"; empty when there is none.
  std::string MediaType() const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  HttpHeaders headers;  // besides Content-Type and Content-Length
  std::string body;
  std::shared_ptr<const Reservation> memory;  // of a body that counts in a budget
};

// The HTTP status of a code: that of its row in the table of codes, but 503 for exhausted
// resources, which here are memory and places in the queue.
int HttpStatusOf(StatusCode code);

// {"error": "..."}; 503 also says when to try again.
HttpResponse ErrorResponse(int http_status, std::string_view message);
HttpResponse ErrorResponse(const Status& status);

}  // namespace kheya

#endif  // KHEYA_SERVE_API_HTTP_MESSAGE_H_
