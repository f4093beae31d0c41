// Between Beast's messages and those of api/.
#ifndef KHEYA_SERVE_HTTP_BEAST_MESSAGE_H_
#define KHEYA_SERVE_HTTP_BEAST_MESSAGE_H_

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "serve/api/http_message.h"
#include "serve/http/body.h"
#include "serve/http/server.h"

namespace kheya {

using RequestParser = boost::beast::http::request_parser<AdmittedBody>;
using BeastResponse = boost::beast::http::response<boost::beast::http::string_body>;

// Verb, target and headers; the body stays where it is.
HttpRequest ToHttpRequest(const RequestParser::value_type& message);

// What is wrong with a request by its header alone: no Host, a coding or an expectation that
// is not known. nullopt when nothing is.
std::optional<HttpResponse> RefuseHeader(const RequestParser::value_type& message);

// The answer to a request that could not be read: 400, 413, 431 or 503.
HttpResponse RefuseUnreadable(boost::system::error_code error, const ServerOptions& options);

// With Date and the headers that every answer has. `version` is the request's: 10 or 11.
BeastResponse ToBeastResponse(HttpResponse response, unsigned version, bool keep_alive,
                              const std::string& request_id);

}  // namespace kheya

#endif  // KHEYA_SERVE_HTTP_BEAST_MESSAGE_H_
