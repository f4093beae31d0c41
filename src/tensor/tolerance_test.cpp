#include "tensor/tolerance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace kheya {
namespace {

using testing::HasSubstr;

Tensor Floats(std::initializer_list<float> values) {
  return Tensor::FromValues<float>(Shape{static_cast<int64_t>(values.size())}, values);
}

TEST(Tolerance, BothFiguresAreRelativeToTheExpectedTensor) {
  const Result<Comparison> comparison = Compare(Floats({3.0f, 4.5f}), Floats({3.0f, 4.0f}));
  ASSERT_TRUE(comparison.ok());
  EXPECT_DOUBLE_EQ(comparison->relative_l2, 0.1);     // 0.5 / 5
  EXPECT_DOUBLE_EQ(comparison->relative_max, 0.125);  // 0.5 / 4
  EXPECT_EQ(comparison->worst, 1);
  EXPECT_TRUE(comparison->Within(0.125));
  EXPECT_FALSE(comparison->Within(0.124));
}

TEST(Tolerance, SpecialValuesMustStandAtTheSamePlaces) {
  EXPECT_TRUE(CheckWithin(Floats({NAN, INFINITY, 1}), Floats({NAN, INFINITY, 1}), 0).ok());
  EXPECT_FALSE(CheckWithin(Floats({NAN, 1}), Floats({1, 1}), 100).ok());
  EXPECT_FALSE(CheckWithin(Floats({INFINITY, 1}), Floats({-INFINITY, 1}), 100).ok());
  EXPECT_FALSE(CheckWithin(Floats({1, 1}), Floats({INFINITY, 1}), 100).ok());
}

TEST(Tolerance, ZerosAllowNothingElse) {
  EXPECT_TRUE(CheckWithin(Floats({0}), Floats({0}), 0).ok());
  EXPECT_FALSE(CheckWithin(Floats({1e-30f}), Floats({0}), 1).ok());
}

TEST(Tolerance, IntegersAndStringsAreExact) {
  const int64_t large = int64_t{1} << 60;
  EXPECT_FALSE(CheckWithin(Tensor::Scalar(large + 1), Tensor::Scalar(large), 1).ok());
  EXPECT_TRUE(CheckWithin(Tensor::Scalar(large), Tensor::Scalar(large), 0).ok());
  const Status status =
      CheckWithin(Tensor::Scalar<std::string>("a"), Tensor::Scalar<std::string>("b"), 1);
  EXPECT_THAT(status.message(), HasSubstr("found 'a', expected 'b'"));
}

TEST(Tolerance, TypesAndShapesMustBeEqual) {
  EXPECT_THAT(Compare(Floats({1}), Tensor::Scalar(1.0f)).status().message(),
              HasSubstr("found float32[1], expected float32[]"));
  EXPECT_FALSE(Compare(Tensor::Scalar(1.0), Tensor::Scalar(1.0f)).ok());
}

TEST(Tolerance, RowsOfAnOperatorComeBeforeTheCommonOnes) {
  EXPECT_EQ(ToleranceOf("MatMul", DType::kFloat32), 1e-5);
  EXPECT_EQ(ToleranceOf("MatMul", DType::kFloat64), ToleranceOf("*", DType::kFloat64));
  EXPECT_EQ(ToleranceOf("Exp", DType::kFloat32), 1e-6);
  EXPECT_EQ(ToleranceOf("Add", DType::kInt32), 0);
}

}  // namespace
}  // namespace kheya
