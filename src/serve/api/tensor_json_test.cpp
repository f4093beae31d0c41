#include "serve/api/tensor_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tensor/small_types.h"

namespace kheya {
namespace {

Result<Tensor> Read(DType dtype, const std::string& text) {
  JsonReader::Options options;
  options.allow_nan = true;
  KHEYA_ASSIGN_OR_RETURN(JsonReader reader, JsonReader::Open(text, options));
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, ReadJsonTensor(reader, ValueType::OfTensor(dtype)));
  KHEYA_RETURN_IF_ERROR(reader.Finish());
  return tensor;
}

// What is written of what was read.
std::string Again(DType dtype, const std::string& text) {
  const Result<Tensor> tensor = Read(dtype, text);
  if (!tensor.ok()) return tensor.status().ToString();
  AnswerBody out;
  const Status status = AppendJsonTensor(*tensor, &out);
  return status.ok() ? out.text() : status.ToString();
}

TEST(TensorJson, EveryNumberOfTheSmallTypesComesBack) {
  for (int number = 1; number <= 28; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (!IsSmall(dtype)) continue;
    const int codes = 1 << GetDTypeInfo(dtype).bits;
    Result<Tensor> all = Tensor::Zeros(dtype, Shape{codes});
    ASSERT_TRUE(all.ok());
    for (int code = 0; code < codes; ++code) {
      const double value = SmallToDouble(dtype, static_cast<uint8_t>(code));
      const int kept = std::isfinite(value) ? code : 1;  // JSON has no others
      SetCode(dtype, all->mutable_view().data, code, static_cast<uint8_t>(kept));
    }
    AnswerBody text;
    ASSERT_TRUE(AppendJsonTensor(*all, &text).ok()) << DTypeName(dtype);
    const Result<Tensor> again = Read(dtype, text.text());
    ASSERT_TRUE(again.ok()) << DTypeName(dtype) << again.status().ToString();
    EXPECT_TRUE(BitwiseEqual(*again, *all)) << DTypeName(dtype) << " " << text.text();
  }
}

TEST(TensorJson, SmallTypesNestAndRound) {
  EXPECT_EQ(Again(DType::kInt4, "[[-8, 7, 1], [2, 3, -1]]"), "[[-8,7,1],[2,3,-1]]");
  EXPECT_EQ(Again(DType::kUint2, "3"), "3");
  EXPECT_EQ(Again(DType::kFloat4E2M1, "[0.4, 6, -6]"), "[0.5,6.0,-6.0]");
  EXPECT_EQ(Again(DType::kFloat8E4M3FN, "[NaN, 448, 450]"), "[null,448.0,448.0]");
  EXPECT_EQ(Again(DType::kFloat8E5M2, "[Infinity, 1]"), "[null,1.0]");
  EXPECT_EQ(Again(DType::kFloat8E8M0, "[0.25, 3.1]"), "[0.25,4.0]");
}

TEST(TensorJson, SmallTypesRefuseWhatTheyCannotHold) {
  const std::pair<DType, const char*> bad[] = {
      {DType::kInt4, "[8]"},           {DType::kUint4, "[-1]"},
      {DType::kInt2, "[-3]"},          {DType::kUint2, "[4]"},
      {DType::kFloat8E4M3FN, "[480]"}, {DType::kFloat8E4M3FN, "[Infinity]"},
      {DType::kFloat8E5M2, "[1e30]"},  {DType::kFloat6E2M3, "[8]"},
      {DType::kFloat6E3M2, "[NaN]"},   {DType::kFloat4E2M1, "[-Infinity]"},
      {DType::kFloat8E8M0, "[0]"},     {DType::kFloat8E8M0, "[-1]"}};
  for (const auto& [dtype, text] : bad) {
    EXPECT_EQ(Read(dtype, text).status().code(), StatusCode::kOutOfRange)
        << DTypeName(dtype) << text;
  }
  EXPECT_EQ(Read(DType::kInt4, "[1.5]").status().code(), StatusCode::kInvalidArgument);
}

TEST(TensorJson, ComplexNumbersArePairs) {
  for (const DType dtype : {DType::kComplex64, DType::kComplex128}) {
    EXPECT_EQ(Again(dtype, "[[1, -2.5], [NaN, 0]]"), "[[1.0,-2.5],[null,0.0]]");
    EXPECT_EQ(Again(dtype, "[3, 4]"), "[3.0,4.0]");  // one number
    EXPECT_EQ(Again(dtype, "[]"), "[]");
    EXPECT_EQ(Again(dtype, "[[[1, 2]], [[3, 4]]]"), "[[[1.0,2.0]],[[3.0,4.0]]]");
    EXPECT_EQ(Read(dtype, "[[[1, 2]], [[3, 4]]]")->shape(), (Shape{2, 1}));
    for (const char* bad : {"1", "[1]", "[[1, 2, 3]]"}) {
      EXPECT_EQ(Read(dtype, bad).status().code(), StatusCode::kInvalidArgument) << bad;
    }
  }
}

Result<Value> ReadValue(const ValueType& type, const std::string& text) {
  KHEYA_ASSIGN_OR_RETURN(JsonReader reader, JsonReader::Open(text));
  return ReadJsonValue(reader, type);
}

TEST(TensorJson, ItemsOfOneValueAreLimited) {
  const ValueType scalar = ValueType::OfTensor(DType::kInt8, SymbolicShape{});
  // Rows of items: the rows count as well.
  constexpr int64_t kRows = 8;
  std::string row = "[";
  for (int64_t i = 1; i < kMaxJsonItems / kRows; ++i) row += i == 1 ? "1" : ",1";
  row += "]";
  std::string text = "[" + row;
  for (int64_t i = 1; i < kRows; ++i) text += "," + row;
  const ValueType rows = ValueType::OfSequence(ValueType::OfSequence(scalar));
  EXPECT_TRUE(ReadValue(rows, text + "]").ok());
  const Status status = ReadValue(rows, text + ",[]]").status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status.ToString();

  std::string map = "{";
  for (int64_t i = 0; i <= kMaxJsonItems; ++i) map += fmt::format("\"{}\":1,", i);
  map.back() = '}';
  EXPECT_EQ(ReadValue(ValueType::OfMap(DType::kInt64, scalar), map).status().code(),
            StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace kheya
