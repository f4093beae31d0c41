// The transport over real sockets on the loopback.
#include <atomic>
#include <thread>

#include "serve/testing/server_fixture.h"

namespace kheya {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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
  server_.reset();  // the gate is in use until then
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
