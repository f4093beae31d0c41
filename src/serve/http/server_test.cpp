// The transport over real sockets on the loopback.
#include "serve/http/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "base/log.h"
#include "serve/core/fake_model.h"

namespace kheya {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int kPatienceMs = 20'000;  // far above what any step takes

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

std::string Post(std::string_view path, std::string_view body, std::string_view headers = "") {
  return fmt::format("POST {} HTTP/1.1\r\nHost: h\r\n{}Content-Length: {}\r\n\r\n{}", path, headers,
                     body.size(), body);
}

constexpr std::string_view kRow = R"({"input": [[1, 2, 3]]})";
constexpr std::string_view kDoubled = R"({"prediction": [[2.0,4.0,6.0]]})";
constexpr std::string_view kLive = "GET /v2/health/live HTTP/1.1\r\nHost: h\r\n\r\n";

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
    EXPECT_TRUE(changed_.wait_for(lock, milliseconds(kPatienceMs), condition));
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
      changed_.wait_for(lock, milliseconds(2));
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
    options_.drain_delay = milliseconds(0);
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
    EXPECT_THAT(client.ReadAnswer(), HasSubstr("{\"live\":true}"));
  }

  ServerOptions options_;
  ModelRepository repository_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, AnswersAndKeepsTheConnection) {
  Start();
  Client client(port());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send(Post("/predict", kRow)));
    const std::string answer = client.ReadAnswer();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("Content-Type: application/json\r\n"));
    EXPECT_THAT(answer, HasSubstr(std::string(kDoubled)));
  }
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
  Start();
  Client client(port());
  client.Send(std::string(kLive) + Post("/predict", kRow) + Post("/nothing", kRow) +
              std::string(kLive));
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("live"));
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("prediction"));
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("404"));
}

TEST_F(ServerTest, ChunkedBody) {
  Start();
  Client client(port());
  client.Send(
      "POST /predict HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "a;x=1\r\n{\"input\": \r\nc\r\n[[1, 2, 3]]}\r\n0\r\nTrailer: t\r\n\r\n" +
      std::string(kLive));
  EXPECT_THAT(client.ReadAnswer(), HasSubstr(std::string(kDoubled)));
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("live"));
}

TEST_F(ServerTest, ExpectContinue) {
  Start();
  Client client(port());
  client.Send(
      fmt::format("POST /predict HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                  "Content-Length: {}\r\n\r\n",
                  kRow.size()));
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 100 Continue\r\n\r\n"));
  client.Send(kRow);
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("200 OK"));

  Client refused(port());
  refused.Send(
      "POST /nothing HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");
  EXPECT_THAT(refused.ReadAll(), StartsWith("HTTP/1.1 404"));
}

TEST_F(ServerTest, Http10ClosesUnlessAsked) {
  Start();
  Client client(port());
  client.Send("GET /v2/health/live HTTP/1.0\r\n\r\n");
  EXPECT_THAT(client.ReadAll(), HasSubstr("{\"live\":true}"));

  Client kept(port());
  kept.Send("GET /v2/health/live HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(kept.ReadAnswer(), HasSubstr("keep-alive"));
  kept.Send("GET /v2/health/live HTTP/1.0\r\n\r\n");
  EXPECT_THAT(kept.ReadAll(), HasSubstr("{\"live\":true}"));
}

TEST_F(ServerTest, HeadHasNoBody) {
  Start();
  Client client(port());
  client.Send("HEAD /v2/health/live HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  const std::string answer = client.ReadAll();
  EXPECT_THAT(answer, HasSubstr("Content-Length: 14\r\n"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\n"));
}

TEST_F(ServerTest, RequestIdIsKeptOrMade) {
  Start();
  Client client(port());
  client.Send("GET /v2 HTTP/1.1\r\nHost: h\r\nx-request-id: abc-1\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("X-Request-Id: abc-1\r\n"));
  client.Send("GET /v2 HTTP/1.1\r\nHost: h\r\nx-request-id: a\tb\r\n\r\n");
  EXPECT_THAT(client.ReadAnswer(),
              testing::AllOf(HasSubstr("X-Request-Id: "), Not(HasSubstr("a\tb"))));
}

TEST_F(ServerTest, BodyOverTheLimitIsRefusedBeforeItIsRead) {
  options_.max_body_bytes = 1000;
  Start();
  Client client(port());
  client.Send("POST /predict HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\n");
  const std::string answer = client.ReadAll();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(answer, HasSubstr("more than 1000 bytes"));

  Client chunked(port());
  chunked.Send("POST /predict HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "80\r\n" + std::string(128, ' ') + "\r\n";
  for (int i = 0; i < 9; ++i) chunked.Send(chunk);
  EXPECT_THAT(chunked.ReadAll(), StartsWith("HTTP/1.1 413"));
  ExpectAlive();
}

TEST_F(ServerTest, MalformedRequests) {
  Start();
  const std::pair<const char*, const char*> cases[] = {
      {"nonsense\r\n\r\n", "HTTP/1.1 400"},
      {"GET /v2 HTTP/9.9\r\n\r\n", "HTTP/1.1 400"},
      {"GET /v2 HTTP/1.1\r\n\r\n", "HTTP/1.1 400"},
      {"GET /v2 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "HTTP/1.1 400"},
      {"POST /predict HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 400"},
      {"POST /predict HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
       "HTTP/1.1 400"},
      {"POST /predict HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n"
       "\r\n0\r\n\r\n",
       "HTTP/1.1 400"},
      {"POST /predict HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
       "HTTP/1.1 400"},
      {"POST /predict HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
       "ffffffffffffffffff\r\n",
       "HTTP/1.1 400"},
      {"GET /v2 HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\n\r\n", "HTTP/1.1 415"},
      {"POST /predict HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
       "HTTP/1.1 501"},
      {"GET /v2 HTTP/1.1\r\nHost: h\r\nExpect: tea\r\n\r\n", "HTTP/1.1 417"},
  };
  for (const auto& [request, status] : cases) {
    SCOPED_TRACE(request);
    Client client(port());
    client.Send(request);
    const std::string answer = client.ReadAnswer();
    EXPECT_THAT(answer, StartsWith(status));
    EXPECT_THAT(answer, HasSubstr("{\"error\":"));
  }
  Client client(port());
  client.Send("GET /v2 HTTP/1.1\r\nHost: h\r\nA: " + std::string(options_.max_header_bytes, 'a') +
              "\r\n\r\n");
  EXPECT_THAT(client.ReadAll(), StartsWith("HTTP/1.1 431"));
  ExpectAlive();
}

TEST_F(ServerTest, SlowClientsAreClosed) {
  options_.header_timeout = milliseconds(50);
  options_.body_timeout = milliseconds(50);
  options_.idle_timeout = milliseconds(50);
  Start();
  Client silent(port()), header(port()), body(port()), idle(port());
  header.Send("GET /v2 HT");
  body.Send("POST /predict HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n{");
  idle.Send(kLive);
  EXPECT_THAT(idle.ReadAll(), HasSubstr("{\"live\":true}"));
  EXPECT_EQ(silent.ReadAll(), "");
  EXPECT_EQ(header.ReadAll(), "");
  EXPECT_EQ(body.ReadAll(), "");
}

TEST_F(ServerTest, FullQueueIsRefusedAtOnceWhileHealthAnswers) {
  Gate gate;
  options_.workers = 1;
  options_.max_queue = 1;
  Start(gate.Model());
  Client running(port()), waiting(port()), refused(port());
  running.Send(Post("/predict", kRow));
  gate.WaitForEntered(1);
  waiting.Send(Post("/predict", kRow));
  std::string answer;
  // Whichever of the two comes first takes the one place.
  refused.Send(Post("/predict", kRow));
  Client probe(port());
  probe.Send(Post("/predict", kRow));
  answer = probe.ReadAnswer();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(answer, HasSubstr("Retry-After: 1\r\n"));
  ExpectAlive();
  gate.Open();
  EXPECT_THAT(running.ReadAnswer(), StartsWith("HTTP/1.1 200"));
}

TEST_F(ServerTest, HangUpCancelsWhatRunsAndDropsWhatWaits) {
  Gate gate;
  options_.workers = 1;
  Start(gate.Model());
  Client waiting(port());
  {
    Client running(port());
    running.Send(Post("/predict", kRow));
    gate.WaitForEntered(1);
    waiting.Send(Post("/predict", kRow));
    ExpectAlive();
    waiting.Close();
    ExpectAlive();
  }
  gate.WaitForCancelled(1);
  gate.Open();
  Client next(port());
  next.Send(Post("/predict", kRow));
  EXPECT_THAT(next.ReadAnswer(), StartsWith("HTTP/1.1 200"));
}

TEST_F(ServerTest, RequestTimeout) {
  Gate gate;
  options_.request_timeout = milliseconds(20);
  Start(gate.Model());
  Client client(port());
  client.Send(Post("/predict", kRow));
  const std::string answer = client.ReadAnswer();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 504"));
  EXPECT_THAT(answer, HasSubstr("{\"error\":"));
  gate.WaitForCancelled(1);
}

TEST_F(ServerTest, KserveTimeoutParameter) {
  Gate gate;
  Start(gate.Model());
  Client client(port());
  client.Send(Post("/v2/models/m/infer",
                   R"({"parameters": {"timeout": 5000}, "inputs": [{"name": "x", "shape": [1, 3],)"
                   R"( "datatype": "FP32", "data": [1, 2, 3]}]})"));
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 504"));
}

TEST_F(ServerTest, TooManyConnections) {
  options_.max_connections = 2;
  Start();
  Client first(port()), second(port());
  first.Send(kLive);
  second.Send(kLive);
  first.ReadAnswer();
  second.ReadAnswer();
  Client third(port());
  const std::string answer = third.ReadAll();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(answer, HasSubstr("too many connections"));
  first.Send(kLive);
  EXPECT_THAT(first.ReadAnswer(), HasSubstr("live"));
}

TEST_F(ServerTest, ShutdownAnswersWhatIsUnderWay) {
  Gate gate;
  Start(gate.Model());
  Client idle(port()), busy(port());
  idle.Send(kLive);
  idle.ReadAnswer();
  busy.Send(Post("/predict", kRow));
  gate.WaitForEntered(1);
  server_->Shutdown();
  EXPECT_EQ(idle.ReadAll(), "");
  gate.Open();
  const std::string answer = busy.ReadAll();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_TRUE(server_->Wait().ok());
  EXPECT_FALSE(Client(port()).connected());
}

TEST_F(ServerTest, DrainIsNotReadyButStillAnswers) {
  options_.drain_delay = milliseconds(1'000'000);
  Start();
  server_->Shutdown();
  Client client(port());
  client.Send("GET /v2/health/ready HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string answer = client.ReadAll();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503"));
  EXPECT_THAT(answer, HasSubstr("{\"ready\":false}"));
  Client late(port());
  late.Send(Post("/predict", kRow));
  EXPECT_THAT(late.ReadAll(), HasSubstr(std::string(kDoubled)));
  server_->Shutdown();
  EXPECT_TRUE(server_->Wait().ok());
}

TEST_F(ServerTest, SecondShutdownCancelsWhatIsUnderWay) {
  std::atomic<int> errors{0};
  SetLogSink([&](const LogRecord& record) { errors += record.level >= LogLevel::kError; });
  Gate gate;
  Start(gate.Model());
  Client busy(port());
  busy.Send(Post("/predict", kRow));
  gate.WaitForEntered(1);
  server_->Shutdown();
  server_->Shutdown();
  EXPECT_TRUE(server_->Wait().ok());
  EXPECT_EQ(busy.ReadAll(), "");
  gate.WaitForCancelled(1);
  EXPECT_EQ(errors, 0);
}

// A model that heeds neither deadline nor cancellation until it is let go.
class DeafModel {
 public:
  std::shared_ptr<CompiledModel> Model() {
    return std::make_shared<FakeModel>(
        std::vector<TensorInfo>{FakeInfo("x", "float32[batch,3]")},
        std::vector<TensorInfo>{FakeInfo("y", "float32[batch,3]")},
        [this](RunContext&, std::span<const Value> inputs, std::span<Value> outputs) {
          entered_.store(true);
          entered_.notify_all();
          open_.wait(false);
          outputs[0] = inputs[0];
          return OkStatus();
        });
  }
  void Open() {
    open_.store(true);
    open_.notify_all();
  }
  void WaitForEntered() { entered_.wait(false); }

 private:
  std::atomic<bool> entered_{false};
  std::atomic<bool> open_{false};
};

TEST_F(ServerTest, WaitNamesWhatOutlivesTheGrace) {
  DeafModel deaf;
  options_.workers = 1;
  options_.shutdown_grace = milliseconds(20);
  options_.cancel_grace = milliseconds(20);
  Start(deaf.Model());
  Client busy(port());
  busy.Send(Post("/predict?q=1", kRow, "X-Request-Id: id-7\r\n"));
  deaf.WaitForEntered();
  server_->Shutdown();
  const Status status = server_->Wait();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("POST /predict?q=1 (request id-7)"));
  EXPECT_EQ(busy.ReadAll(), "");
  deaf.Open();
  while (!server_->Wait().ok()) {  // now it ends
  }
}

TEST_F(ServerTest, WaitNamesWhatOutlivesItsRequest) {
  DeafModel deaf;
  options_.request_timeout = milliseconds(20);
  options_.cancel_grace = milliseconds(20);
  Start(deaf.Model());
  Client client(port());
  client.Send(Post("/v2/models/m/infer",
                   R"({"inputs": [{"name": "x", "shape": [1, 3], "datatype": "FP32",)"
                   R"( "data": [1, 2, 3]}]})"));
  deaf.WaitForEntered();
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 504"));
  server_->Shutdown();
  EXPECT_THAT(server_->Wait().message(), HasSubstr("found 1 requests at work"));
  deaf.Open();
}

// The process's own signals, first and second. The second ends the server whatever its delays are,
// with and without a connection.
class SignalTest : public ServerTest {
 protected:
  void SetUp() override {
    ServerTest::SetUp();
    options_.handle_signals = true;
    options_.drain_delay = milliseconds(1'000'000);
    options_.shutdown_grace = milliseconds(1'000'000);
    SetLogSink([this](const LogRecord& record) {
      if (!record.message.starts_with("signal ")) return;
      ++seen_;
      seen_.notify_all();
    });
    ASSERT_TRUE(
        repository_.Add(ServedModel::Create("m", "1", MakeDoublingModel()).value()).ok());
  }
  // `apart`: the second is sent when the first was seen.
  void Round(int first, int second, bool apart, bool connected) {
    seen_ = 0;
    server_ = Server::Start(options_, &repository_).value();
    std::unique_ptr<Client> client;
    if (connected) {
      client = std::make_unique<Client>(port());
      client->Send(kLive);
      client->ReadAnswer();
    }
    raise(first);
    if (apart) seen_.wait(0);
    raise(second);
    std::future<Status> ended =
        std::async(std::launch::async, [this] { return server_->Wait(); });
    if (ended.wait_for(milliseconds(kPatienceMs)) != std::future_status::ready) {
      std::fprintf(stderr, "signals %d and %d did not end the server\n", first, second);
      std::abort();  // a thread waits for ever
    }
    EXPECT_TRUE(ended.get().ok());
    server_.reset();
  }

 private:
  std::atomic<int> seen_{0};
};

TEST_F(SignalTest, SecondSignalEnds) {
  for (int i = 0; i < 40; ++i) {
    for (const bool connected : {false, true}) {
      Round(SIGTERM, SIGTERM, true, connected);
      Round(SIGINT, SIGTERM, true, connected);
      Round(SIGTERM, SIGINT, false, connected);
      Round(SIGINT, SIGTERM, false, connected);
    }
  }
}

TEST_F(ServerTest, GraceEndsWhatDoesNotEnd) {
  Gate gate;
  options_.shutdown_grace = milliseconds(20);
  Start(gate.Model());
  Client busy(port());
  busy.Send(Post("/predict", kRow));
  gate.WaitForEntered(1);
  server_->Shutdown();
  EXPECT_TRUE(server_->Wait().ok());
  EXPECT_EQ(busy.ReadAll(), "");
}

TEST_F(ServerTest, ManyClientsAtOnce) {
  Start();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      Client client(port());
      for (int j = 0; j < 50; ++j) {
        client.Send(Post("/predict", fmt::format(R"({{"input": [[{}, {}, 0]]}})", i, j)));
        const std::string expected =
            fmt::format(R"({{"prediction": [[{}.0,{}.0,0.0]]}})", 2 * i, 2 * j);
        if (client.ReadAnswer().find(expected) != std::string::npos) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 400);
}

TEST_F(ServerTest, BadOptions) {
  options_.port = 65536;
  EXPECT_EQ(Server::Start(options_, &repository_).status().code(), StatusCode::kInvalidArgument);
  options_.port = 0;
  for (const char* host : {"no such host", ""}) {
    options_.host = host;
    EXPECT_EQ(Server::Start(options_, &repository_).status().code(), StatusCode::kInvalidArgument);
  }
}

TEST_F(ServerTest, AddressIsAsInUrls) {
  Start();
  EXPECT_EQ(server_->address(), fmt::format("127.0.0.1:{}", port()));
  options_.host = "::1";
  const Result<std::unique_ptr<Server>> server = Server::Start(options_, &repository_);
  if (!server.ok()) GTEST_SKIP() << "no IPv6: " << server.status().ToString();
  EXPECT_EQ((*server)->address(), fmt::format("[::1]:{}", (*server)->port()));
}

TEST_F(ServerTest, NothingIsReadBehindABadHeader) {
  Start();
  Client client(port());
  client.Send(
      "POST /predict HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n"
      "GET /v2/health/live HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string answers = client.ReadAll();
  EXPECT_THAT(answers, StartsWith("HTTP/1.1 501"));
  EXPECT_THAT(answers, Not(HasSubstr("200 OK")));
}

TEST_F(ServerTest, TakenPortIsSaid) {
  Start();
  ServerOptions second = options_;
  second.port = port();
  const Status status = Server::Start(second, &repository_).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr(fmt::format("cannot listen on 127.0.0.1:{}", port())));
}

TEST_F(ServerTest, AccessLog) {
  std::mutex mutex;
  std::vector<std::string> lines;
  SetLogSink([&](const LogRecord& record) {
    const std::lock_guard lock(mutex);
    lines.push_back(LogRecordToJson(record));
  });
  Start();
  Client client(port());
  client.Send(Post("/predict?q=1", kRow, "X-Request-Id: id-7\r\nConnection: close\r\n"));
  client.ReadAll();
  server_->Shutdown();
  EXPECT_TRUE(server_->Wait().ok());
  EXPECT_THAT(lines, testing::Contains(testing::AllOf(HasSubstr("id-7"), HasSubstr("/predict"),
                                                      HasSubstr("200"), HasSubstr("serve.access"),
                                                      HasSubstr("127.0.0.1"))));
}

}  // namespace
}  // namespace kheya
