// Connection: one client's socket, from accept to close, as one coroutine.
#ifndef KHEYA_SERVE_HTTP_CONNECTION_H_
#define KHEYA_SERVE_HTTP_CONNECTION_H_

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <memory>
#include <string>

#include "base/random.h"
#include "serve/api/endpoints.h"
#include "serve/core/work_queue.h"
#include "serve/http/beast_message.h"
#include "serve/http/server.h"

namespace kheya {

// What connections share. Used by the I/O thread alone, save `queue`, `context` and `endpoints`.
struct ConnectionServices {
  const ServerOptions& options;
  const ApiContext& context;
  const Endpoints& endpoints;
  WorkQueue& queue;
  Random random;  // for request ids
};

// Lives as long as its coroutine runs. All members are for the I/O thread alone.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::ip::tcp::socket socket, ConnectionServices* services);

  // Answers requests until one side ends it.
  boost::asio::awaitable<void> Run();
  // Answers 503 and closes: there are too many connections.
  boost::asio::awaitable<void> RunRefusing();

  // Ends the connection if it is between two requests.
  void CloseIfIdle();
  // Cancels the request under way and closes.
  void Abort();

 private:
  struct Job;
  // One request and its answer: what the log says of them.
  struct Exchange {
    std::string verb;
    std::string target;
    std::string id;
    unsigned version = 11;
    bool head = false;        // the answer has no body
    bool keep_alive = false;  // as the client wants it
    size_t request_bytes = 0;
    Clock::time_point start = Clock::now();
  };

  boost::asio::awaitable<bool> WaitForRequest();
  boost::asio::awaitable<bool> AnswerOne();
  boost::asio::awaitable<bool> ReadBody(RequestParser* parser, boost::system::error_code* error);
  boost::asio::awaitable<bool> Answer(EndpointMatch match, RequestParser* parser,
                                      Exchange* exchange);
  boost::asio::awaitable<HttpResponse> RunJob(std::shared_ptr<Job> job, std::string name);
  boost::asio::awaitable<bool> Send(HttpResponse response, const Exchange& exchange);
  boost::asio::awaitable<bool> RefuseAndClose(HttpResponse response, Exchange exchange);
  boost::asio::awaitable<void> Close();

  void BeginExchange(const RequestParser::value_type& message, Exchange* exchange);
  void WatchForHangUp();
  Clock::time_point TransferDeadline(Clock::time_point start, uint64_t bytes) const;
  void LogAccess(const Exchange& exchange, int status, size_t response_bytes) const;

  boost::beast::tcp_stream stream_;
  ConnectionServices& services_;
  boost::beast::flat_buffer buffer_;
  std::string client_;        // its address
  std::shared_ptr<Job> job_;  // at work; null between
  bool idle_ = true;
  bool first_ = true;
  bool hung_up_ = false;
  bool unread_ = false;  // the client may still be sending what nobody will read
};

}  // namespace kheya

#endif  // KHEYA_SERVE_HTTP_CONNECTION_H_
