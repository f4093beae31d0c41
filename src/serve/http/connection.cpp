#include "serve/http/connection.h"

#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include "base/log.h"
#include "base/string_util.h"

namespace kheya {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr auto kUse = asio::as_tuple(asio::use_awaitable);
constexpr size_t kReadBytes = 64 << 10;
constexpr std::chrono::seconds kLinger{2};
constexpr size_t kMaxRequestIdBytes = 128;

// An id from outside goes into headers and logs: plain visible characters only.
bool IsPlainId(std::string_view id) {
  if (id.empty() || id.size() > kMaxRequestIdBytes) return false;
  for (const char c : id) {
    if (c <= ' ' || c > '~') return false;
  }
  return true;
}

// The client has closed, or reset, and nothing that it sent before is left to read.
bool IsHungUp(int socket) {
  char byte = 0;
  const ssize_t got = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

}  // namespace

// A request on its way through a worker. The worker may still hold it when the connection is gone.
struct Connection::Job {
  explicit Job(const asio::any_io_executor& executor) : done(executor) {}

  EndpointMatch match;
  HttpRequest request;
  BodyBytes body;
  HttpResponse response;
  std::atomic<bool> cancel{false};
  asio::steady_timer done;  // cancelled when there is something to see
  bool finished = false;    // I/O thread: `response` is there
};

Connection::Connection(asio::ip::tcp::socket socket, ConnectionServices* services)
    : stream_(std::move(socket)),
      services_(*services),
      buffer_(services->options.max_header_bytes + kReadBytes) {
  error_code ignored;
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  client_ = stream_.socket().remote_endpoint(ignored).address().to_string();
}

asio::awaitable<void> Connection::Run() {
  while (true) {
    const bool more = co_await AnswerOne();
    if (!more) break;
  }
  co_await Close();
}

asio::awaitable<void> Connection::RunRefusing() {
  Exchange exchange;
  exchange.id = fmt::format("{:016x}", services_.random.Next());
  co_await RefuseAndClose(ErrorResponse(503, "there are too many connections"),
                          std::move(exchange));
  co_await Close();
}

void Connection::CloseIfIdle() {
  error_code ignored;
  if (idle_ && stream_.socket().available(ignored) == 0) stream_.close();
}

void Connection::Abort() {
  hung_up_ = true;
  if (job_) {
    job_->cancel = true;
    job_->done.cancel();
  }
  stream_.close();
}

// Waits for the first byte; what a client sent ahead is there already.
asio::awaitable<bool> Connection::WaitForRequest() {
  if (buffer_.size() > 0) co_return true;
  const ServerOptions& options = services_.options;
  stream_.expires_after(first_ ? options.header_timeout : options.idle_timeout);
  const auto [error, bytes] = co_await stream_.async_read_some(buffer_.prepare(4096), kUse);
  buffer_.commit(bytes);
  co_return !error;
}

asio::awaitable<bool> Connection::AnswerOne() {
  idle_ = true;
  const bool arrived = co_await WaitForRequest();
  if (!arrived) co_return false;
  idle_ = false;
  first_ = false;

  RequestParser parser;
  parser.header_limit(static_cast<uint32_t>(services_.options.max_header_bytes));
  parser.body_limit(services_.options.max_body_bytes);
  Exchange exchange;
  stream_.expires_after(services_.options.header_timeout);
  auto [error, bytes] = co_await http::async_read_header(stream_, buffer_, parser, kUse);
  BeginExchange(parser.get(), &exchange);
  if (!parser.is_header_done() || error) {
    co_return co_await RefuseAndClose(RefuseUnreadable(error, services_.options), exchange);
  }
  exchange.keep_alive = parser.keep_alive();

  EndpointMatch match = services_.endpoints.Match(exchange.verb, exchange.target);
  std::optional<HttpResponse> refusal = RefuseHeader(parser.get());
  const bool has_bad_header = refusal.has_value();  // where the next request begins is not sure
  if (!refusal && match.endpoint == nullptr) refusal = std::move(match.refusal);
  if (refusal && (has_bad_header || !parser.is_done())) {  // the body is not worth reading
    co_return co_await RefuseAndClose(std::move(*refusal), exchange);
  }
  const bool complete = co_await ReadBody(&parser, &error);
  exchange.request_bytes = parser.get().body().size();
  if (!complete) {
    co_return co_await RefuseAndClose(RefuseUnreadable(error, services_.options), exchange);
  }
  if (refusal) co_return co_await Send(std::move(*refusal), exchange);
  co_return co_await Answer(std::move(match), &parser, &exchange);
}

asio::awaitable<bool> Connection::ReadBody(RequestParser* parser, error_code* error) {
  *error = {};
  if (parser->is_done()) co_return true;
  if (!parser->get()[http::field::expect].empty()) {
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    stream_.expires_after(services_.options.header_timeout);
    const auto [failed, sent] =
        co_await asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()), kUse);
    *error = failed;
  }
  const Clock::time_point start = Clock::now();
  while (!*error && !parser->is_done()) {
    stream_.expires_at(TransferDeadline(start, parser->get().body().size()));
    const auto [failed, bytes] = co_await http::async_read_some(stream_, buffer_, *parser, kUse);
    *error = failed;
  }
  co_return !*error;
}

asio::awaitable<bool> Connection::Answer(EndpointMatch match, RequestParser* parser,
                                         Exchange* exchange) {
  auto job = std::make_shared<Job>(stream_.get_executor());
  job->match = std::move(match);
  job->request = ToHttpRequest(parser->get());
  job->body = std::move(parser->get().body());
  job->request.body = job->body.view();
  job->request.cancel = &job->cancel;
  if (services_.options.request_timeout.count() > 0) {
    job->request.deadline = Clock::now() + services_.options.request_timeout;
  }
  HttpResponse response;
  if (job->match.endpoint->work == EndpointWork::kNone) {
    response = services_.endpoints.Call(job->match, job->request);
  } else {
    response = co_await RunJob(job, fmt::format("{} {} (request {})", exchange->verb,
                                                Abbreviate(exchange->target, 256), exchange->id));
  }
  if (hung_up_) {
    LogAccess(*exchange, HttpStatusOf(StatusCode::kCancelled), 0);
    co_return false;
  }
  co_return co_await Send(std::move(response), *exchange);
}

asio::awaitable<HttpResponse> Connection::RunJob(std::shared_ptr<Job> job, std::string name) {
  const Endpoints& endpoints = services_.endpoints;
  const asio::any_io_executor executor = stream_.get_executor();
  const uint64_t ticket = services_.queue.TryPush(std::move(name), [job, &endpoints, executor] {
    job->response = job->cancel ? ErrorResponse(CancelledError("the client is gone"))
                                : endpoints.Call(job->match, job->request);
    asio::post(executor, [job] {
      job->finished = true;
      job->done.cancel();
    });
  });
  if (ticket == 0) co_return ErrorResponse(503, "the queue is full, try again");
  job_ = job;
  stream_.expires_never();
  WatchForHangUp();
  job->done.expires_at(job->request.deadline);
  co_await job->done.async_wait(kUse);
  job_ = nullptr;
  error_code ignored;
  stream_.socket().cancel(ignored);  // an error: Abort has closed it
  if (job->finished) co_return std::move(job->response);
  job->cancel = true;
  services_.queue.Remove(ticket);
  co_return ErrorResponse(DeadlineExceededError("the request took longer than {} ms",
                                                services_.options.request_timeout.count()));
}

void Connection::WatchForHangUp() {
  stream_.socket().async_wait(
      asio::ip::tcp::socket::wait_read,
      [self = shared_from_this(), job = job_](const error_code& error) {
        if (error || self->job_ != job || !IsHungUp(self->stream_.socket().native_handle())) return;
        self->hung_up_ = true;
        job->cancel = true;
        job->done.cancel();
      });
}

asio::awaitable<bool> Connection::Send(HttpResponse response, const Exchange& exchange) {
  const bool keep_alive = exchange.keep_alive && !services_.context.stopping;
  const std::shared_ptr<const Reservation> memory = std::move(response.memory);
  BeastResponse message =
      ToBeastResponse(std::move(response), exchange.version, keep_alive, exchange.id);
  const size_t bytes = exchange.head ? 0 : message.body().size();
  http::response_serializer<http::string_body> serializer(message);
  stream_.expires_at(TransferDeadline(Clock::now(), bytes));
  error_code error;
  if (exchange.head) {
    const auto [failed, sent] = co_await http::async_write_header(stream_, serializer, kUse);
    error = failed;
  } else {
    const auto [failed, sent] = co_await http::async_write(stream_, serializer, kUse);
    error = failed;
  }
  LogAccess(exchange, message.result_int(), error ? 0 : bytes);
  co_return keep_alive && !error;
}

// For answers that come before the whole request was read: the rest of it cannot be told from a
// next request, so the connection ends.
asio::awaitable<bool> Connection::RefuseAndClose(HttpResponse response, Exchange exchange) {
  exchange.keep_alive = false;
  unread_ = true;
  if (!stream_.socket().is_open()) {  // closed by its timeout
    LogAccess(exchange, 408, 0);
    co_return false;
  }
  co_await Send(std::move(response), exchange);
  co_return false;
}

// A close with unread bytes would reset the connection and could destroy the answer on its way.
asio::awaitable<void> Connection::Close() {
  error_code ignored;
  if (hung_up_ || !stream_.socket().is_open()) co_return;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  unread_ = unread_ || buffer_.size() > 0;
  buffer_.clear();
  stream_.expires_after(kLinger);
  while (unread_) {
    const auto [error, bytes] = co_await stream_.async_read_some(buffer_.prepare(kReadBytes), kUse);
    if (error) break;
  }
  stream_.close();
}

void Connection::BeginExchange(const RequestParser::value_type& message, Exchange* exchange) {
  exchange->verb = message.method_string();
  exchange->target = message.target();
  exchange->version = message.version() == 10 ? 10 : 11;
  exchange->head = message.method() == http::verb::head;
  const beast::string_view given = message["X-Request-Id"];
  exchange->id = IsPlainId({given.data(), given.size()})
                     ? std::string(given)
                     : fmt::format("{:016x}", services_.random.Next());
}

Clock::time_point Connection::TransferDeadline(Clock::time_point start, uint64_t bytes) const {
  const ServerOptions& options = services_.options;
  const uint64_t rate = std::max<uint64_t>(options.min_bytes_per_second, 1);
  return start + options.body_timeout + std::chrono::seconds(bytes / rate);
}

void Connection::LogAccess(const Exchange& exchange, int status, size_t response_bytes) const {
  if (!services_.options.access_log || !LogEnabled(LogLevel::kInfo)) return;
  const auto took = std::chrono::nanoseconds(Clock::now() - exchange.start);
  Log(LogLevel::kInfo, "serve.access", "request",
      {{"http.request.method", exchange.verb},
       {"url.path", Abbreviate(exchange.target, 256)},
       {"http.response.status_code", status},
       {"event.duration", took.count()},
       {"http.request.body.bytes", exchange.request_bytes},
       {"http.response.body.bytes", response_bytes},
       {"http.request.id", exchange.id},
       {"client.address", client_}});
}

}  // namespace kheya
