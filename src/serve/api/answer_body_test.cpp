#include "serve/api/answer_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "serve/api/endpoints.h"
#include "serve/api/tensor_json.h"
#include "serve/core/fake_model.h"

namespace kheya {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr size_t kInPlace = 15;  // what a string holds without allocating

std::shared_ptr<MemoryBudget> Budget(uint64_t bytes) {
  return std::make_shared<MemoryBudget>("test", bytes);
}

template <typename T>
Tensor Filled(Shape shape, T value) {
  return Tensor::FromValues<T>(shape, std::vector<T>(shape.num_elements(), value));
}

// As many numbers in every form that an answer has.
std::vector<Value> LongValues() {
  constexpr int64_t kCount = 1 << 20;
  Int64Map map;
  for (int64_t i = 0; i < (1 << 16); ++i) map.emplace(i, Tensor::Scalar(1.5f));
  return {Tensor::Zeros(DType::kFloat32, {kCount}).value(),
          Tensor::Zeros(DType::kFloat32, {kCount, 1}).value(),
          Tensor::Zeros(DType::kFloat32, {kCount, 0}).value(),
          Tensor::Zeros(DType::kInt4, {kCount}).value(),
          Tensor::Zeros(DType::kComplex64, {kCount / 2, 2}).value(),
          Filled<std::string>({1000}, std::string(1000, 'a')),
          Value(Sequence(kCount, Value())),
          Value(std::move(map))};
}

TEST(AnswerBody, EveryFormStopsAtTheBudget) {
  for (const Value& value : LongValues()) {
    SCOPED_TRACE(TypeOf(value).ToString());
    const auto budget = Budget(1 << 18);
    {
      AnswerBody body(kNoDeadline, nullptr, budget);
      const Status status = AppendJsonValue(value, &body);
      EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
      EXPECT_THAT(status.message(), HasSubstr("bytes of an answer that goes on: memory budget"));
      EXPECT_GT(body.text().size(), 1u << 14);
      EXPECT_LE(body.text().capacity(), budget->used_bytes());
    }
    EXPECT_EQ(budget->used_bytes(), 0u);
  }
}

TEST(AnswerBody, EveryFormStopsWhenTheRequestIsGivenUp) {
  for (const Value& value : LongValues()) {
    SCOPED_TRACE(TypeOf(value).ToString());
    std::atomic<bool> cancel{false};
    AnswerBody body(kNoDeadline, &cancel);
    ASSERT_TRUE(body.Append("{").ok());
    cancel = true;
    EXPECT_EQ(AppendJsonValue(value, &body).code(), StatusCode::kCancelled);
    EXPECT_LE(body.text().size(), 65u << 10);
  }
}

TEST(AnswerBody, DeadlinePassesHalfway) {
  const Tensor tensor = Tensor::Zeros(DType::kBool, {1 << 26}).value();  // 384 MiB of text
  AnswerBody body(Clock::now() + std::chrono::milliseconds(5));
  const Status status = AppendJsonTensor(tensor, &body);
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), StartsWith("the deadline passed after "));
}

// The room that is asked for is never less than what is written.
TEST(AnswerBody, LongestElementsStayWithinTheirRoom) {
  const double lowest = -2.2250738585072014e-308;
  std::vector<Tensor> tensors = {Filled<double>({1000}, lowest),
                                 Filled<float>({1000}, -1.17549435e-38f),
                                 Filled<int64_t>({1000}, std::numeric_limits<int64_t>::min()),
                                 Filled<std::string>({1000}, std::string(3, '\x01'))};
  Tensor pairs = Tensor::Zeros(DType::kComplex128, {1000}).value();
  const Tensor parts = Filled<double>({2000}, lowest);
  std::memcpy(pairs.mutable_view().data, parts.bytes().data(), parts.bytes().size());
  tensors.push_back(std::move(pairs));
  for (const Tensor& tensor : tensors) {
    SCOPED_TRACE(DTypeName(tensor.dtype()));
    for (size_t before = 0; before < 3000; before += 7) {
      const auto budget = Budget(0);
      AnswerBody body(kNoDeadline, nullptr, budget);
      ASSERT_TRUE(body.Append(std::string(before, ' ')).ok());
      ASSERT_TRUE(AppendJsonTensor(tensor, &body).ok());
      ASSERT_LE(body.text().capacity(), std::max<size_t>(kInPlace, budget->used_bytes()));
    }
  }
}

TEST(AnswerBody, CountsUntilTheResponseIsGone) {
  const auto budget = Budget(1 << 20);
  HttpResponse response;
  {
    AnswerBody body(kNoDeadline, nullptr, budget);
    ASSERT_TRUE(body.Append(std::string(100'000, 'x')).ok());
    std::move(body).MoveTo(&response);
  }
  EXPECT_EQ(response.body.size(), 100'000u);
  EXPECT_GE(budget->used_bytes(), 100'000u);
  response = {};
  EXPECT_EQ(budget->used_bytes(), 0u);
}

// A model that answers in spite of the deadline, so that only the writing can notice it.
TEST(AnswerBody, EveryProtocolLooksAtTheDeadline) {
  Deadline deadline;
  const auto late = std::make_shared<FakeModel>(
      std::vector<TensorInfo>{FakeInfo("x", "float32[1]")},
      std::vector<TensorInfo>{FakeInfo("y", "float32[1]")},
      [&](RunContext&, std::span<const Value> inputs, std::span<Value> outputs) {
        std::this_thread::sleep_until(deadline);
        outputs[0] = inputs[0];
        return OkStatus();
      });
  ModelRepository repository;
  ASSERT_TRUE(repository.Add(ServedModel::Create("m", "1", late).value()).ok());
  ApiContext context;
  context.repository = &repository;
  const Endpoints endpoints(&context);
  const std::string kserve =
      R"({"inputs": [{"name": "x", "shape": [1], "datatype": "FP32", "data": [1]}])";
  const std::pair<const char*, std::string> requests[] = {
      {"/predict", R"({"x": [1]})"},
      {"/v2/models/m/infer", kserve + "}"},
      {"/v2/models/m/infer", kserve + R"(, "parameters": {"binary_data_output": true}})"}};
  for (const auto& [path, body] : requests) {
    SCOPED_TRACE(body);
    deadline = Clock::now() + std::chrono::milliseconds(100);
    HttpRequest request;
    request.verb = "POST";
    request.target = path;
    request.body = body;
    request.deadline = deadline;
    const HttpResponse late_answer = endpoints.Call(endpoints.Match("POST", path), request);
    EXPECT_EQ(late_answer.status, 504) << late_answer.body;
    deadline = Clock::now();
    request.deadline = kNoDeadline;
    EXPECT_EQ(endpoints.Call(endpoints.Match("POST", path), request).status, 200);
  }
}

}  // namespace
}  // namespace kheya
