#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace kheya {
namespace {

class LogTest : public ::testing::Test {
 protected:
  void TearDown() override {
    SetLogSink({});
    SetLogLevel(LogLevel::kInfo);
    SetLogFormat(LogFormat::kAuto);
  }
};

TEST_F(LogTest, DropsWhatIsBelowTheLevel) {
  std::vector<std::string> seen;
  SetLogSink([&](const LogRecord& record) { seen.emplace_back(record.message); });
  LogDebug("base", "hidden {}", 1);
  LogInfo("base", "shown {}", 2);
  SetLogLevel(LogLevel::kError);
  LogWarning("base", "hidden");
  LogError("base", "an error");
  SetLogLevel(LogLevel::kOff);
  LogError("base", "hidden");
  EXPECT_THAT(seen, ::testing::ElementsAre("shown 2", "an error"));
}

TEST_F(LogTest, WritesElasticCommonSchema) {
  const LogFields fields = {{"http.response.status_code", 200}, {"url.path", "/a\n"}};
  const LogRecord record{std::chrono::system_clock::time_point(std::chrono::milliseconds(1500)),
                         LogLevel::kWarning, "serve", "a \"request\"", &fields};
  EXPECT_EQ(LogRecordToJson(record),
            R"({"@timestamp":"1970-01-01T00:00:01.500Z","log.level":"warning",)"
            R"("message":"a \"request\"","ecs.version":"8.11.0","log.logger":"serve",)"
            R"("http.response.status_code":200,"url.path":"/a\n"})");
  EXPECT_EQ(LogRecordToText(record),
            R"(a "request" http.response.status_code=200 url.path=/a\x0a)");
}

TEST_F(LogTest, GoesToStderr) {
  SetLogFormat(LogFormat::kJson);
  ::testing::internal::CaptureStderr();
  Log(LogLevel::kInfo, "base", "100% {} %v", {{"k", 1}});
  const std::string text = ::testing::internal::GetCapturedStderr();
  Result<Json> json = Json::Parse(text);
  ASSERT_TRUE(json.ok()) << text;
  EXPECT_EQ(*json->Find("message")->GetString(), "100% {} %v");
  EXPECT_EQ(*json->Find("k")->GetInt64(), 1);
}

TEST_F(LogTest, CallsTheSinkFromOneThreadAtATime) {
  int count = 0;
  SetLogSink([&](const LogRecord&) { ++count; });
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) LogInfo("base", "line {}", i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 800);
}

TEST_F(LogTest, LevelsHaveNames) {
  for (const LogLevel level :
       {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning, LogLevel::kError, LogLevel::kOff}) {
    EXPECT_EQ(*ParseLogLevel(LogLevelName(level)), level);
  }
  EXPECT_FALSE(ParseLogLevel("loud").ok());
}

}  // namespace
}  // namespace kheya
