// What tests of the server over real sockets share: a client, a model that waits, and a fixture.
#ifndef KHEYA_SERVE_TESTING_SERVER_FIXTURE_H_
#define KHEYA_SERVE_TESTING_SERVER_FIXTURE_H_

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "serve/core/fake_model.h"
#include "serve/http/server.h"

namespace kheya {

inline constexpr int kPatienceMs = 20'000;  // far above what any step takes

class Client {
 public:
  explicit Client(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Client() { Close(); }
  Client(const Client&) = delete;

  bool connected() const { return connected_; }
  void Close() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  // False when the other side does not take it.
  bool Send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // Until the other side closes.
  std::string ReadAll() {
    while (ReadSome()) {
    }
    return std::exchange(received_, {});
  }
  // One answer with a Content-Length; what comes behind it stays for the next call.
  std::string ReadAnswer() {
    while (true) {
      const size_t end = AnswerEnd();
      if (end > 0) {
        std::string answer = received_.substr(0, end);
        received_.erase(0, end);
        return answer;
      }
      if (!ReadSome()) return std::exchange(received_, {});
    }
  }
  std::string ReadUntil(std::string_view text) {
    while (received_.find(text) == std::string::npos && ReadSome()) {
    }
    return std::exchange(received_, {});
  }

 private:
  size_t AnswerEnd() const {
    const size_t header = received_.find("\r\n\r\n");
    const size_t length = received_.find("Content-Length: ");
    if (header == std::string::npos || length == std::string::npos) return 0;
    const size_t end = header + 4 + std::stoul(received_.substr(length + 16));
    return received_.size() >= end ? end : 0;
  }
  bool ReadSome() {
    pollfd poll_socket{socket_, POLLIN, 0};
    if (poll(&poll_socket, 1, kPatienceMs) <= 0) return false;
    char bytes[65536];
    const ssize_t got = recv(socket_, bytes, sizeof(bytes), 0);
    if (got <= 0) return false;
    received_.append(bytes, static_cast<size_t>(got));
    return true;
  }

  int socket_;
  bool connected_ = false;
  std::string received_;
};

inline std::string Post(std::string_view path, std::string_view body,
                        std::string_view headers = "") {
  return fmt::format("POST {} HTTP/1.1\r\nHost: h\r\n{}Content-Length: {}\r\n\r\n{}", path, headers,
                     body.size(), body);
}

inline constexpr std::string_view kRow = R"({"input": [[1, 2, 3]]})";
inline constexpr std::string_view kDoubled = R"({"prediction": [[2.0,4.0,6.0]]})";
inline constexpr std::string_view kLive = "GET /v2/health/live HTTP/1.1\r\nHost: h\r\n\r\n";

// A model that waits until it is let go, or cancelled.
class Gate {
 public:
  std::shared_ptr<CompiledModel> Model() {
    return std::make_shared<FakeModel>(
        std::vector<TensorInfo>{FakeInfo("x", "float32[batch,3]")},
        std::vector<TensorInfo>{FakeInfo("y", "float32[batch,3]")},
        [this](RunContext& context, std::span<const Value> inputs, std::span<Value> outputs) {
          return Enter(context, inputs, outputs);
        });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void WaitForEntered(int count) {
    WaitFor([&] { return entered_ >= count; });
  }
  void WaitForCancelled(int count) {
    WaitFor([&] { return cancelled_ >= count; });
  }
  int entered() {
    const std::lock_guard lock(mutex_);
    return entered_;
  }

 private:
  template <typename Condition>
  void WaitFor(Condition condition) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::milliseconds(kPatienceMs), condition));
  }
  Status Enter(RunContext& context, std::span<const Value> inputs, std::span<Value> outputs) {
    std::unique_lock lock(mutex_);
    ++entered_;
    changed_.notify_all();
    while (!open_) {
      if (Status status = context.CheckAlive(); !status.ok()) {
        ++cancelled_;
        changed_.notify_all();
        return status;
      }
      changed_.wait_for(lock, std::chrono::milliseconds(2));
    }
    outputs[0] = inputs[0];
    return OkStatus();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int entered_ = 0;
  int cancelled_ = 0;
};

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    SetLogSink([](const LogRecord&) {});
    options_.port = 0;
    options_.drain_delay = std::chrono::milliseconds(0);
  }
  void TearDown() override {
    server_.reset();
    SetLogSink({});
  }
  void Start(std::shared_ptr<CompiledModel> model = MakeDoublingModel()) {
    ASSERT_TRUE(repository_.Add(ServedModel::Create("m", "1", std::move(model)).value()).ok());
    Result<std::unique_ptr<Server>> server = Server::Start(options_, &repository_);
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = std::move(server).value();
  }
  int port() const { return server_->port(); }
  void ExpectAlive() {
    Client client(port());
    client.Send(kLive);
    EXPECT_THAT(client.ReadAnswer(), testing::HasSubstr("{\"live\":true}"));
  }

  ServerOptions options_;
  ModelRepository repository_;
  std::unique_ptr<Server> server_;
};

}  // namespace kheya

#endif  // KHEYA_SERVE_TESTING_SERVER_FIXTURE_H_
