#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <limits>
#include <mutex>

#include "serve/core/classification.h"
#include "serve/core/fake_model.h"
#include "serve/core/infer.h"
#include "serve/core/work_queue.h"

namespace kheya {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<ServedModel> Served(const std::string& name, const std::string& version) {
  return ServedModel::Create(name, version, MakeDoublingModel()).value();
}

TEST(ModelRepository, FindsByNameAndVersion) {
  ModelRepository repository;
  EXPECT_FALSE(repository.AllReady());
  EXPECT_EQ(repository.Only().status().code(), StatusCode::kFailedPrecondition);
  const auto first = Served("a", "1");
  const auto second = Served("a", "2");
  ASSERT_TRUE(repository.Add(first).ok());
  EXPECT_EQ(repository.Only().value(), first);
  ASSERT_TRUE(repository.Add(second).ok());
  EXPECT_EQ(repository.Add(Served("a", "2")).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(repository.Find("a").value(), second);
  EXPECT_EQ(repository.Find("a", "1").value(), first);
  EXPECT_EQ(repository.Find("a", "3").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(repository.Find("b").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(repository.Only().status().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(repository.AllReady());
  first->set_state(ModelState::kLoading);
  EXPECT_FALSE(repository.AllReady());
}

TEST(ServedModel, RefusesTypesThatNoRequestCarries) {
  const Status status = ServedModel::Create("m", "1", MakeEchoModel("sparse(float32[n])")).status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("model 'm': input 'x' is sparse(float32[n])"));
}

TEST(ServedModel, RefusesAWrongSpec) {
  const auto model = std::make_shared<FakeModel>(
      std::vector<TensorInfo>{}, std::vector<TensorInfo>{},
      [](RunContext&, std::span<const Value>, std::span<Value>) { return OkStatus(); },
      FakeModel::Metadata{{"kheya.spec", "{"}});
  EXPECT_THAT(ServedModel::Create("m", "1", model).status().message(), HasSubstr("model 'm': "));
}

TEST(Infer, PicksOutputsAndRespectsTheDeadline) {
  InferRequest request;
  request.model = ServedModel::Create("m", "1", MakePairModel()).value();
  request.inputs = {Tensor::FromValues<float>({1, 2}, {1, 2}),
                    Tensor::FromValues<int64_t>({1}, {7})};
  Result<InferResponse> answer = Infer(request);
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->outputs.size(), 2u);
  EXPECT_EQ(answer->outputs[1].name, "same");
  request.outputs = {{.index = 2}};
  EXPECT_EQ(Infer(request).status().code(), StatusCode::kInvalidArgument);
  request.outputs = {};
  request.deadline = Clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(Infer(request).status().code(), StatusCode::kDeadlineExceeded);
  request.inputs.pop_back();
  EXPECT_THAT(Infer(request).status().message(), HasSubstr("'ids' (int64[batch])"));
}

TEST(Classify, OrdersTiesAndNans) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor scores = Tensor::FromValues<float>({4}, {nan, 1.5f, 2, 2});
  const Tensor classes = Classify(scores, 9, {"a", "b"}).value();
  EXPECT_THAT(classes.data<std::string>(), ElementsAre("2:2", "2:3", "1.5:1:b", "nan:0:a"));
  EXPECT_EQ(Classify(Tensor::Scalar(1.0f), 1, {}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Classify(scores, 0, {}).status().code(), StatusCode::kInvalidArgument);
  const Tensor text = Tensor::FromValues<std::string>({1}, {"a"});
  EXPECT_EQ(Classify(text, 1, {}).status().code(), StatusCode::kUnimplemented);
}

TEST(WorkQueue, BoundsWhatWaitsAndTakesBack) {
  std::mutex mutex;
  std::condition_variable changed;
  bool started = false, open = false;
  int ran = 0;
  WorkQueue queue(1, 2);
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    ++ran;
  };
  ASSERT_NE(queue.TryPush("first",
                          [&] {
                            std::unique_lock lock(mutex);
                            started = true;
                            changed.notify_all();
                            changed.wait(lock, [&] { return open; });
                          }),
            0u);
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return started; });
  }
  const uint64_t first = queue.TryPush("count", count);
  const uint64_t second = queue.TryPush("count", count);
  EXPECT_NE(first, 0u);
  EXPECT_NE(second, first);
  EXPECT_EQ(queue.TryPush("count", count), 0u);
  EXPECT_TRUE(queue.Remove(first));
  EXPECT_FALSE(queue.Remove(first));
  EXPECT_NE(queue.TryPush("count", count), 0u);
  {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
  queue.Stop();
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(queue.TryPush("count", count), 0u);
}

}  // namespace
}  // namespace kheya
