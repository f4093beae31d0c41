#include "serve/http/server.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <random>
#include <thread>
#include <unordered_set>

#include "base/cpu_ledger.h"
#include "base/log.h"
#include "base/string_util.h"
#include "serve/http/connection.h"

namespace kheya {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kUse = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kAcceptPause{100};  // when the process has no descriptor left

uint64_t RandomSeed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

Status CheckOptions(const ServerOptions& options) {
  if (options.port < 0 || options.port > 65535) {
    return InvalidArgumentError("found port {}, expected 0 to 65535", options.port);
  }
  if (options.max_connections < 1 || options.max_header_bytes < 1 || options.workers < 0) {
    return InvalidArgumentError("found a limit of the server below 1");
  }
  return OkStatus();
}

}  // namespace

// Everything but Start, Shutdown and Wait happens on the I/O thread.
class Server::Impl {
 public:
  Impl(const ServerOptions& options, ModelRepository* repository)
      : options_(options),
        endpoints_(&context_),
        queue_(options.workers > 0 ? options.workers : AllowedCpus(), options.max_queue),
        services_{options_, context_, endpoints_, queue_, Random(RandomSeed())} {
    context_.repository = repository;
  }
  ~Impl() {
    BeginEnd();
    if (thread_.joinable()) thread_.join();
    queue_.Stop();
  }

  Status Listen() {
    error_code error;
    tcp::resolver resolver(io_);
    const auto addresses = resolver.resolve(options_.host, std::to_string(options_.port),
                                            tcp::resolver::numeric_service, error);
    if (error || addresses.empty() || options_.host.empty()) {
      return InvalidArgumentError("found host '{}', expected a name or address of this machine",
                                  options_.host);
    }
    const tcp::endpoint endpoint = addresses.begin()->endpoint();
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return UnavailableError("cannot listen on {}:{}: {}", options_.host, options_.port,
                              error.message())
          .WithHint("another port can be given with --port, and --port 0 takes any free one");
    }
    port_ = acceptor_.local_endpoint(error).port();
    return OkStatus();
  }

  void Run() {
    if (options_.handle_signals) {
      signals_.add(SIGINT);
      signals_.add(SIGTERM);
      WaitForSignal();
    }
    asio::co_spawn(io_, Accept(), asio::detached);
    thread_ = std::thread([this] { io_.run(); });
  }

  int port() const { return port_; }
  std::string address() const {
    const bool is_v6 = options_.host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", options_.host, is_v6 ? "]" : "", port_);
  }

  void BeginEnd() {
    asio::post(io_, [this] { End(); });
  }

  Status Wait() {
    if (thread_.joinable()) thread_.join();
    const std::vector<std::string> busy = queue_.Stop(options_.cancel_grace);
    if (busy.empty()) return OkStatus();
    return DeadlineExceededError("found at work {} ms after it was given up: {}",
                                 options_.cancel_grace.count(), Join(busy, ", "));
  }

 private:
  void WaitForSignal() {
    signals_.async_wait([this](const error_code& error, int signal) {
      if (error) return;
      LogInfo("serve", "signal {}: shutting down", signal);
      End();
      WaitForSignal();
    });
  }

  asio::awaitable<void> Accept() {
    while (acceptor_.is_open()) {
      auto [error, socket] = co_await acceptor_.async_accept(kUse);
      if (!acceptor_.is_open()) break;
      if (error) {
        LogWarning("serve", "cannot accept a connection: {}", error.message());
        asio::steady_timer pause(io_, kAcceptPause);
        co_await pause.async_wait(kUse);
        continue;
      }
      Serve(std::move(socket));
    }
  }

  void Serve(tcp::socket socket) {
    const bool refuse = connections_.size() >= options_.max_connections;
    auto connection = std::make_shared<Connection>(std::move(socket), &services_);
    connections_.insert(connection);
    asio::co_spawn(io_, refuse ? connection->RunRefusing() : connection->Run(),
                   [this, connection](const std::exception_ptr& thrown) {
                     if (thrown) LogError("serve", "a connection ended in an exception");
                     connections_.erase(connection);
                     if (connections_.empty() && !acceptor_.is_open()) Finish();
                   });
  }

  // First call: not ready any more, and after a while no new connections. Second call: at once.
  void End() {
    if (context_.stopping.exchange(true)) {
      StopAccepting();
      Cut();
      return;
    }
    timer_.expires_after(options_.drain_delay);
    timer_.async_wait([this](const error_code& error) {
      if (!error) StopAccepting();
    });
  }

  void StopAccepting() {
    if (!acceptor_.is_open()) return;
    error_code ignored;
    acceptor_.close(ignored);
    for (const std::shared_ptr<Connection>& connection : connections_) connection->CloseIfIdle();
    if (connections_.empty()) return Finish();
    timer_.expires_after(options_.shutdown_grace);
    timer_.async_wait([this](const error_code& error) {
      if (!error) Cut();
    });
  }

  void Cut() {
    if (connections_.empty()) return Finish();
    LogWarning("serve", "cutting off {} connections", connections_.size());
    for (const std::shared_ptr<Connection>& connection : connections_) connection->Abort();
  }

  // Ends the I/O thread, whatever still waits for a signal or a time.
  void Finish() { io_.stop(); }

  const ServerOptions options_;
  asio::io_context io_{1};
  ApiContext context_;
  const Endpoints endpoints_;
  WorkQueue queue_;
  ConnectionServices services_;
  tcp::acceptor acceptor_{io_};
  asio::signal_set signals_{io_};
  asio::steady_timer timer_{io_};
  std::unordered_set<std::shared_ptr<Connection>> connections_;
  int port_ = 0;
  std::thread thread_;
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                              ModelRepository* repository) {
  KHEYA_RETURN_IF_ERROR(CheckOptions(options));
  auto impl = std::make_unique<Impl>(options, repository);
  KHEYA_RETURN_IF_ERROR(impl->Listen());
  impl->Run();
  LogDebug("serve", "listening on http://{}", impl->address());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

int Server::port() const { return impl_->port(); }
std::string Server::address() const { return impl_->address(); }
void Server::Shutdown() { impl_->BeginEnd(); }
Status Server::Wait() { return impl_->Wait(); }

}  // namespace kheya
