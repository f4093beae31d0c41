#include "tensor/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/value.h"

namespace kheya {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DType, EveryRowIsFoundByItsNames) {
  for (int number = 1; number <= 26; ++number) {
    const std::optional<DType> dtype = DTypeFromOnnx(number);
    ASSERT_TRUE(dtype.has_value()) << number;
    const DTypeInfo& info = GetDTypeInfo(*dtype);
    EXPECT_EQ(DTypeFromName(info.name), dtype);
    EXPECT_TRUE(*info.kserve == '\0' || DTypeFromKServe(info.kserve) == dtype);
    EXPECT_TRUE(*info.numpy == '\0' || DTypeFromNumpy(info.numpy) == dtype);
  }
  EXPECT_FALSE(DTypeFromOnnx(0));
  EXPECT_FALSE(DTypeFromOnnx(29));
  EXPECT_FALSE(DTypeFromName("undefined"));
  EXPECT_FALSE(DTypeFromKServe(""));
  EXPECT_STREQ(DTypeName(static_cast<DType>(200)), "undefined");
}

TEST(DType, BytesArePackedAndDoNotOverflow) {
  EXPECT_EQ(BytesFor(DType::kInt4, 3), 2u);
  EXPECT_EQ(BytesFor(DType::kUint2, 5), 2u);
  EXPECT_EQ(BytesFor(DType::kFloat6E2M3, 1), 1u);
  EXPECT_EQ(BytesFor(DType::kFloat6E2M3, 4), 3u);
  EXPECT_EQ(BytesFor(DType::kFloat6E3M2, 5), 4u);
  EXPECT_EQ(BytesFor(DType::kFloat32, 3), 12u);
  EXPECT_EQ(BytesFor(DType::kComplex128, INT64_MAX), std::numeric_limits<size_t>::max());
  EXPECT_EQ(BytesFor(DType::kString, INT64_MAX), std::numeric_limits<size_t>::max());
  EXPECT_EQ(BytesFor(DType::kInt4, INT64_MAX), size_t{1} << 62);
}

TEST(Float16, RoundsToNearestEven) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = HalfBitsToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    EXPECT_EQ(FloatToHalfBits(value), bits);
  }
  EXPECT_EQ(FloatToHalfBits(65519.0f), 0x7bff);
  EXPECT_EQ(FloatToHalfBits(65520.0f), 0x7c00);
  EXPECT_EQ(FloatToHalfBits(1.0f + 1.0f / 2048), 0x3c00);
  EXPECT_EQ(FloatToHalfBits(1.0f + 3.0f / 2048), 0x3c02);
  EXPECT_TRUE(std::isnan(HalfBitsToFloat(FloatToHalfBits(NAN))));
  EXPECT_EQ(FloatToBFloatBits(1.0f), 0x3f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(NAN))));
}

TEST(Tensor, AllocatesAlignedWithinTheBudget) {
  auto budget = std::make_shared<MemoryBudget>("test", 1000);
  Result<Tensor> tensor = Tensor::Allocate(DType::kFloat32, Shape{10}, budget);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->bytes().data()) % kAlignment, 0u);
  EXPECT_EQ(Tensor::Allocate(DType::kFloat32, Shape{1000}, budget).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(Tensor::Allocate(DType::kString, Shape{1000}, budget).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_FALSE(Tensor::Allocate(DType::kComplex128, Shape{INT64_MAX}).ok());
  EXPECT_FALSE(Tensor::Allocate(DType::kString, Shape{INT64_MAX}).ok());
  EXPECT_FALSE(Tensor::Allocate(DType::kUndefined, Shape{1}).ok());
  const uint64_t used = budget->used_bytes();
  { ASSERT_TRUE(Tensor::Allocate(DType::kString, Shape{4}, budget).ok()); }
  EXPECT_EQ(budget->used_bytes(), used);
}

TEST(Tensor, BorrowsUnalignedMemory) {
  auto bytes = std::make_shared<std::vector<std::byte>>(13);
  const float one = 1.0f;
  std::memcpy(bytes->data() + 5, &one, sizeof(one));
  const std::span<const std::byte> span(bytes->data() + 1, 8);
  Result<Tensor> tensor = Tensor::Borrow(DType::kFloat32, Shape{2}, span, bytes);
  ASSERT_TRUE(tensor.ok());
  EXPECT_FALSE(tensor->aligned());
  EXPECT_EQ(tensor->At<float>(1), 1.0f);
  const Tensor aligned = tensor->Aligned().value();
  EXPECT_TRUE(aligned.aligned());
  EXPECT_EQ(aligned.data<float>()[1], 1.0f);
  EXPECT_TRUE(BitwiseEqual(*tensor, aligned));
  EXPECT_EQ(tensor->owner(), bytes);
  EXPECT_THAT(Tensor::Borrow(DType::kFloat32, Shape{3}, span, bytes).status().message(),
              HasSubstr("found 8 bytes, expected 12 for float32[3]"));
  EXPECT_FALSE(Tensor::Borrow(DType::kString, Shape{0}, {}, bytes).ok());
}

TEST(Tensor, ReshapesWithoutCopy) {
  const Tensor tensor = Tensor::FromValues<int32_t>(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor reshaped = tensor.Reshaped(Shape{3, 2}).value();
  EXPECT_EQ(reshaped.bytes().data(), tensor.bytes().data());
  EXPECT_EQ(reshaped.TypeString(), "int32[3,2]");
  EXPECT_FALSE(tensor.Reshaped(Shape{4}).ok());
}

TEST(Tensor, ComparesBits) {
  const auto floats = [](float value) { return Tensor::Scalar(value); };
  EXPECT_TRUE(BitwiseEqual(floats(NAN), floats(NAN)));
  EXPECT_FALSE(BitwiseEqual(floats(0.0f), floats(-0.0f)));
  EXPECT_FALSE(BitwiseEqual(floats(1.0f), Tensor::FromValues<float>(Shape{1}, {1.0f})));
  EXPECT_FALSE(BitwiseEqual(Tensor::Scalar(int32_t{0}), floats(0.0f)));
  EXPECT_TRUE(BitwiseEqual(Tensor::Scalar(std::string("a")), Tensor::Scalar(std::string("a"))));
  EXPECT_FALSE(BitwiseEqual(Tensor::Scalar(std::string("a")), Tensor::Scalar(std::string("b"))));
}

TEST(Tensor, IntegersOfAnyTypeAsInt64) {
  EXPECT_THAT(ToInt64s(Tensor::FromValues<int8_t>(Shape{2}, {-1, 2})).value(), ElementsAre(-1, 2));
  EXPECT_THAT(ToInt64s(Tensor::FromValues<bool>(Shape{2}, {true, false})).value(),
              ElementsAre(1, 0));
  EXPECT_THAT(ToInt64s(Tensor::FromValues<uint32_t>(Shape{1}, {4294967295u})).value(),
              ElementsAre(4294967295));
  EXPECT_EQ(ToInt64s(Tensor::Scalar(UINT64_MAX)).status().code(), StatusCode::kOutOfRange);
  EXPECT_FALSE(ToInt64s(Tensor::Scalar(1.0f)).ok());
  Tensor packed = Tensor::Allocate(DType::kInt4, Shape{3}).value();
  auto* bytes = static_cast<uint8_t*>(packed.mutable_view().data);
  bytes[0] = 0x8f;
  bytes[1] = 0x07;
  EXPECT_THAT(ToInt64s(packed).value(), ElementsAre(-1, -8, 7));
}

TEST(ValueType, TextReadsBack) {
  for (const char* text :
       {"?", "float32?", "float32[]", "float32[batch,3,?]", "seq(float32?)", "optional(seq(?))",
        "map(int64,float32[])", "map(string,seq(int64[2*N]))", "sparse(float32[3])",
        "bool[floor((H+1)/2),\"a,b\"]", "undefined[2]"}) {
    const Result<ValueType> type = ValueType::Parse(text);
    ASSERT_TRUE(type.ok()) << type.status().ToString();
    EXPECT_EQ(type->ToString(), text);
    EXPECT_TRUE(*type == ValueType::Parse(type->ToString()).value());
  }
}

TEST(ValueType, WhatIsNoTypeIsRefused) {
  for (const char* text :
       {"", "float", "float32", "float32[", "float32]", "float32[a", "seq", "seq(", "seq()",
        "map(int64)", "map(x,int64?)", "float32[1,,2]", "float32[1]x", "sparse(seq(?))"}) {
    EXPECT_FALSE(ValueType::Parse(text).ok()) << text;
  }
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "seq(";
  EXPECT_FALSE(ValueType::Parse(deep + std::string(100000, ')')).ok());
}

TEST(Value, HoldsOneOfItsKinds) {
  const Value tensor = Tensor::Scalar(1.0f);
  const Value sequence(Sequence{tensor, tensor});
  const Value ints(Int64Map{{1, tensor}});
  const Value strings(StringMap{{"a", tensor}});
  EXPECT_TRUE(Value().empty());
  EXPECT_TRUE(tensor.is_tensor());
  EXPECT_EQ(tensor.sequence(), nullptr);
  ASSERT_NE(sequence.sequence(), nullptr);
  EXPECT_EQ(sequence.sequence()->size(), 2u);
  EXPECT_EQ(sequence.int64_map(), nullptr);
  EXPECT_EQ(ints.int64_map()->size(), 1u);
  EXPECT_EQ(strings.string_map()->count("a"), 1u);
}

}  // namespace
}  // namespace kheya
