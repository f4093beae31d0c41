#include "tensor/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kheya {
namespace {

using ::testing::HasSubstr;

Result<Shape> Make(std::vector<int64_t> dims) { return Shape::Create(dims); }

TEST(Shape, HoldsItsDimensions) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape.num_elements(), 24);
  EXPECT_EQ(shape.Product(1, 3), 12);
  EXPECT_EQ(shape.Product(1, 1), 1);
  EXPECT_EQ(shape.ToString(), "[2,3,4]");
  EXPECT_EQ(Shape().num_elements(), 1);
  EXPECT_EQ(Shape().ToString(), "[]");
  EXPECT_TRUE(shape == Make({2, 3, 4}).value());
  EXPECT_FALSE(shape == Shape({2, 3}));
  EXPECT_EQ(StridesOf(shape)[0], 12);
  EXPECT_EQ(StridesOf(shape)[2], 1);
}

TEST(Shape, RefusesWhatIsNoShape) {
  EXPECT_THAT(Make({2, -1}).status().message(), HasSubstr("found dimension -1"));
  EXPECT_THAT(Make(std::vector<int64_t>(17, 1)).status().message(), HasSubstr("found rank 17"));
  EXPECT_FALSE(Make({INT64_MAX, 2}).ok());
  EXPECT_FALSE(Make({INT64_MAX, 0, 2}).ok());
  EXPECT_EQ(Make({INT64_MAX, 0, 1}).value().num_elements(), 0);
}

TEST(Shape, Broadcasts) {
  EXPECT_EQ(BroadcastShapes(Shape{2, 1, 3}, Shape{4, 1}).value().ToString(), "[2,4,3]");
  EXPECT_EQ(BroadcastShapes(Shape{}, Shape{0}).value().ToString(), "[0]");
  EXPECT_EQ(BroadcastShapes(Shape{1}, Shape{0}).value().ToString(), "[0]");
  EXPECT_THAT(BroadcastShapes(Shape{2}, Shape{3}).status().message(), HasSubstr("[2] and [3]"));
  EXPECT_FALSE(BroadcastShapes(Shape{2}, Shape{0}).ok());
}

TEST(SymbolicShape, Broadcasts) {
  const Dim n = Dim::Symbol("N"), m = Dim::Symbol("M");
  const auto text = [](const SymbolicShape& a, const SymbolicShape& b) {
    Result<SymbolicShape> shape = BroadcastShapes(a, b);
    return shape.ok() ? ToString(*shape) : shape.status().message();
  };
  EXPECT_EQ(text({n, 3}, {3}), "[N,3]");
  EXPECT_EQ(text({n}, {1}), "[N]");
  EXPECT_EQ(text({n}, {n}), "[N]");
  EXPECT_EQ(text({n}, {4}), "[4]");
  EXPECT_EQ(text({n}, {m}), "[?]");
  EXPECT_EQ(text({Dim()}, {1}), "[?]");
  EXPECT_THAT(text({2}, {3}), HasSubstr("found shapes [2] and [3]"));
}

TEST(SymbolicShape, MatchesInstances) {
  const Dim n = Dim::Symbol("N");
  EXPECT_TRUE(Matches({n, 3, n}, Shape{2, 3, 2}));
  EXPECT_FALSE(Matches({n, 3, n}, Shape{2, 3, 4}));
  EXPECT_FALSE(Matches({n, 3}, Shape{2, 4}));
  EXPECT_FALSE(Matches({n}, Shape{2, 4}));
  EXPECT_TRUE(Matches({Dim(), n * 2}, Shape{5, 3}));
  EXPECT_FALSE(ToKnown({n}).has_value());
  EXPECT_EQ(ToKnown(ToSymbolic(Shape{2, 3})), (Shape{2, 3}));
}

}  // namespace
}  // namespace kheya
