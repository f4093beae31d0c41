#include "data/metrics.h"

#include <gmock/gmock.h>

#include <cmath>

#include "data/postprocess.h"

namespace kheya {
namespace {

using ::testing::HasSubstr;

TEST(TopKAccuracy, Counts) {
  const Tensor scores =
      Tensor::FromValues<float>(Shape{3, 3}, {0.1f, 0.7f, 0.2f, 5, 4, 3, -1, -2, -3});
  TopKAccuracy top1(1), top2(2), top9(9);
  const int64_t labels[] = {1, 1, 2};
  for (TopKAccuracy* metric : {&top1, &top2, &top9}) {
    ASSERT_TRUE(metric->Add(scores, labels).ok());
    EXPECT_EQ(metric->count(), 3);
  }
  EXPECT_EQ(top1.correct(), 1);
  EXPECT_EQ(top2.correct(), 2);
  EXPECT_EQ(top9.correct(), 3);
  ASSERT_TRUE(top1.Add(scores, labels).ok());
  EXPECT_DOUBLE_EQ(top1.value(), 2.0 / 6.0);
  EXPECT_EQ(TopKAccuracy(1).value(), 0.0);
}

TEST(TopKAccuracy, BreaksTiesByIndexAndNeverTakesNan) {
  const Tensor scores = Tensor::FromValues<float>(Shape{3, 2}, {1, 1, 1, 1, NAN, 0});
  TopKAccuracy metric(1);
  const int64_t labels[] = {0, 1, 0};
  ASSERT_TRUE(metric.Add(scores, labels).ok());
  EXPECT_EQ(metric.correct(), 1);
}

TEST(TopKAccuracy, RefusesWhatDoesNotFit) {
  const Tensor scores = Tensor::FromValues<float>(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  TopKAccuracy metric(1);
  const int64_t three[] = {0, 1, 2}, outside[] = {0, 3}, negative[] = {-1, 0};
  EXPECT_THAT(metric.Add(scores, three).message(),
              HasSubstr("found scores float32[2,3], expected float32[3,classes]"));
  EXPECT_THAT(metric.Add(scores, outside).message(), HasSubstr("label 3, expected 0 to 2"));
  EXPECT_FALSE(metric.Add(scores, negative).ok());
  EXPECT_FALSE(metric.Add(Tensor::FromValues<int64_t>(Shape{1, 1}, {1}), negative).ok());
}

TEST(TopKAccuracy, CountsNothingOfABatchThatDoesNotFit) {
  const Tensor scores = Tensor::FromValues<float>(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  TopKAccuracy metric(1);
  const int64_t outside[] = {2, 3};
  EXPECT_FALSE(metric.Add(scores, outside).ok());
  EXPECT_EQ(metric.count(), 0);
}

TEST(ClassScores, SoftmaxSumsToOne) {
  ModelSpec spec;
  spec.postprocess = ModelSpec::Postprocess::kSoftmax;
  const Tensor logits = Tensor::FromValues<float>(Shape{2, 3}, {0, 0, 0, 1000, 0, -1000});
  const auto rows = ClassScores(spec, logits);
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 2u);
  for (const float value : (*rows)[0]) EXPECT_FLOAT_EQ(value, 1.0f / 3);
  EXPECT_EQ((*rows)[1][0], 1.0f);
  EXPECT_EQ((*rows)[1][2], 0.0f);
  EXPECT_EQ((*ClassScores(ModelSpec(), logits))[1][0], 1000.0f);
}

TEST(ClassScores, RefusesOtherShapes) {
  EXPECT_EQ(ClassScores(ModelSpec(), Tensor::FromValues<float>(Shape{2}, {1, 2}))->size(), 1u);
  EXPECT_FALSE(ClassScores(ModelSpec(), Tensor::Scalar<float>(1)).ok());
  EXPECT_FALSE(ClassScores(ModelSpec(), Tensor::FromValues<int64_t>(Shape{1}, {1})).ok());
  EXPECT_FALSE(ClassScores(ModelSpec(), *Tensor::Allocate(DType::kFloat32, Shape{2, 0})).ok());
  EXPECT_FALSE(ClassScores(ModelSpec(), *Tensor::Allocate(DType::kFloat32, Shape{2, 2, 2})).ok());
}

TEST(TopClasses, AreRankedAndNamed) {
  ModelSpec spec;
  spec.labels = {"a", "b"};
  const float scores[] = {0.2f, NAN, 0.5f, 0.2f};
  const auto top = TopClasses(spec, scores, 10);
  ASSERT_EQ(top.size(), 4u);
  EXPECT_EQ(top[0].index, 2);
  EXPECT_EQ(top[0].label, "");
  EXPECT_EQ(top[1].index, 0);
  EXPECT_EQ(top[1].label, "a");
  EXPECT_EQ(top[2].index, 3);
  EXPECT_EQ(top[3].index, 1);
  EXPECT_EQ(TopClasses(spec, scores, 1).size(), 1u);
  EXPECT_TRUE(TopClasses(spec, scores, 0).empty());
}

}  // namespace
}  // namespace kheya
