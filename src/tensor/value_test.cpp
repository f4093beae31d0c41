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

TEST(Value, AlignsTheTensorsItHolds) {
  const auto odd = std::make_shared<std::vector<std::byte>>(64);
  for (size_t i = 0; i < odd->size(); ++i) (*odd)[i] = static_cast<std::byte>(i);
  const std::span<const std::byte> bytes = std::span(*odd).subspan(1, 8);
  const Value unaligned = Tensor::Borrow(DType::kFloat32, {2}, bytes, odd).value();
  const Value aligned = Floats({2});
  ASSERT_FALSE(unaligned.aligned());
  const auto tensor = [&](const Value& value) {
    Result<Value> found = value.Aligned();
    EXPECT_TRUE(found.ok() && found->aligned());
    return found.ok() ? *found : Value();
  };
  EXPECT_TRUE(BitwiseEqual(tensor(unaligned).tensor(), unaligned.tensor()));
  EXPECT_EQ(tensor(aligned).tensor().bytes().data(), aligned.tensor().bytes().data());
  EXPECT_TRUE(tensor(Value()).empty());

  const Value nested(Sequence{aligned, Value(Sequence{unaligned})});
  EXPECT_FALSE(nested.aligned());
  const Value sequence = tensor(nested);
  EXPECT_EQ((*sequence.sequence())[0].tensor().bytes().data(), aligned.tensor().bytes().data());
  EXPECT_TRUE(
      BitwiseEqual((*(*sequence.sequence())[1].sequence())[0].tensor(), unaligned.tensor()));

  const Value by_number = tensor(Value(Int64Map{{7, unaligned}}));
  EXPECT_TRUE(BitwiseEqual(by_number.int64_map()->at(7).tensor(), unaligned.tensor()));
  const Value by_name = tensor(Value(StringMap{{"a", unaligned}}));
  EXPECT_TRUE(BitwiseEqual(by_name.string_map()->at("a").tensor(), unaligned.tensor()));
}

}  // namespace
}  // namespace kheya
