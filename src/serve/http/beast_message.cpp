#include "serve/http/beast_message.h"

#include <boost/beast/http/error.hpp>
#include <ctime>

#include "base/string_util.h"

namespace kheya {
namespace {

namespace http = boost::beast::http;

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

// RFC 9110, 5.6.7.
std::string HttpDate() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[40];
  const size_t size = std::strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text, size};
}

}  // namespace

HttpRequest ToHttpRequest(const RequestParser::value_type& message) {
  HttpRequest request;
  request.verb = View(message.method_string());
  request.target = View(message.target());
  for (const auto& field : message) {
    request.headers.emplace_back(View(field.name_string()), View(field.value()));
  }
  return request;
}

std::optional<HttpResponse> RefuseHeader(const RequestParser::value_type& message) {
  if (message.version() >= 11 && message.count(http::field::host) != 1) {
    return ErrorResponse(
        400, fmt::format("found {} host headers, expected one", message.count(http::field::host)));
  }
  const std::string_view coding = View(message[http::field::content_encoding]);
  if (!coding.empty() && !EqualsIgnoreCase(coding, "identity")) {
    HttpResponse response = ErrorResponse(
        415, fmt::format("found content-encoding '{}', expected none", Abbreviate(coding)));
    response.headers.emplace_back("Accept-Encoding", "identity");
    return response;
  }
  const std::string_view transfer = View(message[http::field::transfer_encoding]);
  if (!transfer.empty() && !EqualsIgnoreCase(transfer, "chunked")) {
    return ErrorResponse(
        501, fmt::format("found transfer-encoding '{}', expected chunked", Abbreviate(transfer)));
  }
  const std::string_view expect = View(message[http::field::expect]);
  if (!expect.empty() && !EqualsIgnoreCase(expect, "100-continue")) {
    return ErrorResponse(
        417, fmt::format("found expect '{}', expected 100-continue", Abbreviate(expect)));
  }
  return std::nullopt;
}

HttpResponse RefuseUnreadable(boost::system::error_code error, const ServerOptions& options) {
  if (error == http::error::body_limit) {
    return ErrorResponse(413, fmt::format("found a body of more than {} bytes, the limit of this "
                                          "server",
                                          options.max_body_bytes));
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return ErrorResponse(431, fmt::format("found a header of more than {} bytes, the limit of "
                                          "this server",
                                          options.max_header_bytes));
  }
  if (error == boost::system::errc::not_enough_memory) {
    return ErrorResponse(503, "there is no memory for the body now");
  }
  return ErrorResponse(400, fmt::format("malformed request: {}", ToLower(error.message())));
}

BeastResponse ToBeastResponse(HttpResponse response, unsigned version, bool keep_alive,
                              const std::string& request_id) {
  BeastResponse out{static_cast<http::status>(response.status), version};
  out.set(http::field::date, HttpDate());
  out.set(http::field::content_type, response.content_type);
  out.set("X-Request-Id", request_id);
  for (const auto& [name, value] : response.headers) out.set(name, value);
  out.body() = std::move(response.body);
  out.keep_alive(keep_alive);
  out.prepare_payload();
  return out;
}

}  // namespace kheya
