// Server: answers HTTP/1.1 for the models of a repository.
//
//   ModelRepository repository;
//   KHEYA_RETURN_IF_ERROR(repository.Add(model));
//   KHEYA_ASSIGN_OR_RETURN(std::unique_ptr<Server> server,
//                          Server::Start({.port = 0, .handle_signals = true}, &repository));
//   KHEYA_RETURN_IF_ERROR(server->Wait());
//
// One thread reads and writes all sockets; `workers` threads decode, run models and encode.
#ifndef KHEYA_SERVE_HTTP_SERVER_H_
#define KHEYA_SERVE_HTTP_SERVER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "serve/core/model_repository.h"

namespace kheya {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8000;                // 0: any free one
  int workers = 0;                // requests at work at once; 0: one a CPU
  size_t max_queue = 128;         // requests that wait for a worker; further ones get 503
  size_t max_connections = 1024;  // further ones get 503
  size_t max_header_bytes = 16 << 10;
  uint64_t max_body_bytes = uint64_t{64} << 20;

  // A client may take this long for a header, and between two requests.
  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds idle_timeout{60'000};
  // For a body, in either direction: this long, and one more second for each
  // `min_bytes_per_second`.
  std::chrono::milliseconds body_timeout{30'000};
  uint64_t min_bytes_per_second = 16 << 10;
  // From the end of the request to the answer, the wait in the queue included; 0: no limit.
  std::chrono::milliseconds request_timeout{0};

  // Between the first sign of the end (not ready) and the last connection taken.
  std::chrono::milliseconds drain_delay{500};
  // From then on, what requests under way may still take before they are cut off.
  std::chrono::milliseconds shutdown_grace{30'000};
  // From the last connection's end, what runs that nobody waits for may take to notice it.
  std::chrono::milliseconds cancel_grace{2'000};
  bool handle_signals = false;  // SIGTERM and SIGINT begin the shutdown, a second one cuts it short
  bool access_log = true;
};

class Server {
 public:
  // `repository` must outlive the server. InvalidArgument for a host that is none, Unavailable when
  // the port is taken or may not be had.
  static Result<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                               ModelRepository* repository);
  // Shutdown(), and waits for all that runs, however long it takes.
  ~Server();

  int port() const;
  // "127.0.0.1:8000", "[::1]:8000"
  std::string address() const;
  // Begins the end and returns at once: readiness goes, then accepting stops, idle connections are
  // closed, and requests under way are answered. Called again, cuts the waiting short.
  // Thread safety: any thread, any number of times.
  void Shutdown();
  // Returns when the end is reached. DeadlineExceeded names the requests that still run when their
  // time to notice the end is over: they use the server and its models, so that the caller may
  // either wait again or end the process without destroying anything. One caller at a time.
  Status Wait();

  class Impl;

 private:
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kheya

#endif  // KHEYA_SERVE_HTTP_SERVER_H_
