// Runs tests/cases/http/*.json against the endpoints, without sockets.
//
// A file is an array of cases: "name"; "model": one of the fake models below; "request": "POST
// /predict"; "headers", where the value "json" is the length of "body"; "body" as text, with "tail"
// in hexadecimal behind it; "status"; and of the answer, each when given: "answer" exactly (without
// the line end), "error" as a part of the message, "header" pairs, "binary" in hexadecimal behind
// the JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/json.h"
#include "base/string_util.h"
#include "serve/api/endpoints.h"
#include "serve/core/fake_model.h"

namespace kheya {
namespace {

std::shared_ptr<CompiledModel> MakeModel(const std::string& name) {
  if (name == "doubling") return MakeDoublingModel();
  if (name == "pair") return MakePairModel();
  if (name == "picture") return MakePictureModel();
  if (name == "classifier") return MakeClassifierModel();
  if (name == "maps") return MakeMapsModel();
  return MakeEchoModel(name);
}

std::string FromHex(std::string_view text) {
  std::string bytes;
  for (const std::string_view word : SplitWords(text)) {
    for (size_t i = 0; i + 1 < word.size(); i += 2) {
      bytes.push_back(static_cast<char>(std::stoi(std::string(word.substr(i, 2)), nullptr, 16)));
    }
  }
  return bytes;
}

std::string ToHex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string TextOf(const Json& json, std::string_view key) {
  const Json* value = json.Find(key);
  return value == nullptr ? "" : value->GetString().value();
}

HttpHeaders HeadersOf(const Json* json) {
  HttpHeaders headers;
  if (json == nullptr) return headers;
  for (const auto& [name, value] : json->members()) {
    headers.emplace_back(name, value.GetString().value());
  }
  return headers;
}

void CheckAnswer(const Json& test, const HttpResponse& response) {
  EXPECT_EQ(response.status, test.Find("status")->GetInt64().value()) << response.body;
  std::string json = response.body;
  for (const auto& [name, value] : HeadersOf(test.Find("header"))) {
    EXPECT_THAT(response.headers, testing::Contains(testing::Pair(name, value)));
  }
  if (test.Find("binary") != nullptr) {
    EXPECT_EQ(response.content_type, "application/octet-stream");
    const auto length = std::find_if(response.headers.begin(), response.headers.end(), [](auto& h) {
      return h.first == "Inference-Header-Content-Length";
    });
    ASSERT_NE(length, response.headers.end());
    json = response.body.substr(0, std::stoul(length->second));
    EXPECT_EQ(ToHex(response.body.substr(json.size())), ToHex(FromHex(TextOf(test, "binary"))));
  } else {
    EXPECT_EQ(response.content_type, "application/json");
  }
  if (test.Find("answer") != nullptr) {
    EXPECT_EQ(Trim(json), TextOf(test, "answer"));
  }
  if (test.Find("error") == nullptr) return;
  Result<Json> error = Json::Parse(json);
  ASSERT_TRUE(error.ok()) << json;
  ASSERT_EQ(error->members().size(), 1u);
  EXPECT_THAT(TextOf(*error, "error"), testing::HasSubstr(TextOf(test, "error")));
}

void RunCase(const Json& test) {
  ModelRepository repository;
  const std::shared_ptr<ServedModel> model =
      ServedModel::Create("m", "1", MakeModel(TextOf(test, "model"))).value();
  if (test.Find("not_ready") != nullptr) model->set_state(ModelState::kUnavailable);
  ASSERT_TRUE(repository.Add(model).ok());
  ApiContext context;
  context.repository = &repository;
  const Endpoints endpoints(&context);

  const std::string line = TextOf(test, "request");
  const std::string body = TextOf(test, "body") + FromHex(TextOf(test, "tail"));
  HttpRequest request;
  request.verb = line.substr(0, line.find(' '));
  request.target = line.substr(line.find(' ') + 1);
  request.headers = HeadersOf(test.Find("headers"));
  for (auto& [name, value] : request.headers) {
    if (value == "json") value = std::to_string(TextOf(test, "body").size());
  }
  request.body = body;
  const EndpointMatch match = endpoints.Match(request.verb, request.target);
  CheckAnswer(test, match.endpoint ? endpoints.Call(match, request) : match.refusal);
}

TEST(HttpCases, AllFiles) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(KHEYA_SOURCE_DIR "/tests/cases/http")) {
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    Result<Json> cases = Json::Parse(text.str());
    ASSERT_TRUE(cases.ok()) << entry.path() << ": " << cases.status().ToString();
    for (const Json& test : cases->items()) {
      SCOPED_TRACE(entry.path().filename().string() + ": " + TextOf(test, "name"));
      RunCase(test);
      ++count;
    }
  }
  EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace kheya
