#include "tensor/value.h"

#include <gtest/gtest.h>

namespace kheya {
namespace {

ValueType Parse(std::string_view text) { return ValueType::Parse(text).value(); }

Value Floats(std::initializer_list<int64_t> dims) {
  return Tensor::Allocate(DType::kFloat32, Shape(dims)).value();
}

TEST(TypeOf, SaysWhatElementsShare) {
  EXPECT_EQ(TypeOf(Floats({2, 3})).ToString(), "float32[2,3]");
  EXPECT_EQ(TypeOf(Value(Sequence{Floats({2, 3}), Floats({2, 4})})).ToString(),
            "seq(float32[2,?])");
  EXPECT_EQ(TypeOf(Value(Sequence{Floats({2}), Floats({2, 4})})).ToString(), "seq(float32?)");
  EXPECT_EQ(TypeOf(Value(Sequence{Floats({2}), Value(Tensor::Scalar(1.0))})).ToString(), "seq(?)");
  EXPECT_EQ(TypeOf(Value(Sequence())).ToString(), "seq(?)");
  EXPECT_EQ(TypeOf(Value(Int64Map{{7, Floats({1})}})).ToString(), "map(int64,float32[1])");
  EXPECT_EQ(TypeOf(Value(StringMap{{"a", Floats({1})}})).ToString(), "map(string,float32[1])");
  EXPECT_EQ(TypeOf(Value()).ToString(), "?");
}

TEST(CheckType, TakesWhatFitsAndNothingElse) {
  const auto fits = [](const Value& value, std::string_view type) {
    return CheckType(value, Parse(type)).ok();
  };
  EXPECT_TRUE(fits(Floats({2, 3}), "float32[N,3]"));
  EXPECT_TRUE(fits(Floats({2, 3}), "float32?"));
  EXPECT_TRUE(fits(Floats({2, 3}), "?"));
  EXPECT_FALSE(fits(Floats({2, 3}), "float32[N,4]"));
  EXPECT_FALSE(fits(Floats({2, 3}), "float64?"));
  EXPECT_FALSE(fits(Floats({2, 3}), "seq(float32?)"));
  EXPECT_FALSE(fits(Value(), "float32?"));
  const Value sequence(Sequence{Floats({1}), Floats({2})});
  EXPECT_TRUE(fits(sequence, "seq(float32[?])"));
  EXPECT_FALSE(fits(sequence, "seq(float32[1])"));
  EXPECT_FALSE(fits(sequence, "float32?"));
  EXPECT_TRUE(fits(Value(), "optional(float32?)"));
  EXPECT_TRUE(fits(Floats({1}), "optional(float32?)"));
  EXPECT_FALSE(fits(Floats({1}), "optional(seq(float32?))"));
  const Value map(Int64Map{{7, Floats({1})}});
  EXPECT_TRUE(fits(map, "map(int64,float32[1])"));
  EXPECT_FALSE(fits(map, "map(string,float32[1])"));
  EXPECT_FALSE(fits(map, "map(int64,float32[2])"));
  EXPECT_FALSE(fits(sequence, "map(int64,float32[2])"));
}

TEST(CommonType, KeepsWhatIsTrueOfBoth) {
  const auto common = [](std::string_view a, std::string_view b) {
    const std::optional<ValueType> type = CommonType(Parse(a), Parse(b));
    return type ? type->ToString() : "none";
  };
  EXPECT_EQ(common("float32[2,3]", "float32[2,4]"), "float32[2,?]");
  EXPECT_EQ(common("float32[2,3]", "float32[2]"), "float32?");
  EXPECT_EQ(common("float32[2]", "float64[2]"), "none");
  EXPECT_EQ(common("float32[2]", "seq(float32[2])"), "none");
  EXPECT_EQ(common("seq(float32[2])", "seq(float32[3])"), "seq(float32[?])");
  EXPECT_EQ(common("seq(float32[2])", "seq(int64[3])"), "none");
  EXPECT_EQ(common("?", "seq(int64[3])"), "?");
  EXPECT_EQ(common("optional(float32[2])", "float32[3]"), "optional(float32[?])");
  EXPECT_EQ(common("float32[2]", "optional(float32[2])"), "optional(float32[2])");
  EXPECT_EQ(common("float32[2]", "optional(int64[2])"), "none");
}

}  // namespace
}  // namespace kheya
