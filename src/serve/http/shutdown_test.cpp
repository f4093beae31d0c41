// The server's end, over real sockets and with the process's own signals.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <future>

#include "serve/testing/server_fixture.h"

namespace kheya {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

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
  EXPECT_THAT(server_->Wait().message(),
              HasSubstr("found at work 20 ms after it was given up: POST /v2/models/m/infer"));
  deaf.Open();
  server_.reset();  // the model is in use until then
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
    ASSERT_TRUE(repository_.Add(ServedModel::Create("m", "1", MakeDoublingModel()).value()).ok());
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
    std::future<Status> ended = std::async(std::launch::async, [this] { return server_->Wait(); });
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

}  // namespace
}  // namespace kheya
