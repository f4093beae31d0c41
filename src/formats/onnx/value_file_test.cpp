#include "formats/onnx/value_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/testing/model_writer.h"
#include "formats/testing/temp_folder.h"
#include "formats/wire/protobuf_writer.h"

namespace kheya {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Result<Tensor> ReadTensor(const std::string& bytes) {
  KHEYA_ASSIGN_OR_RETURN(Value value, ReadValueProto(BytesOf(bytes), ValueType()));
  return value.tensor();
}

// TensorProto with dims {count} and one field of typed values, packed.
std::string Typed(DType dtype, int64_t count, uint32_t field, std::string_view packed) {
  ProtobufWriter writer;
  writer.Int64(1, count);
  writer.Int64(2, static_cast<int64_t>(dtype));
  writer.Bytes(field, packed);
  return writer.bytes();
}

TEST(ValueFile, WritesWhatItReads) {
  const Tensor tensors[] = {
      Tensor::FromValues<float>(Shape{2, 2}, {1, 2, 3, 4}),
      Tensor::FromValues<int64_t>(Shape{}, {-7}),
      Tensor::FromValues<bool>(Shape{3}, {true, false, true}),
      Tensor::FromValues<std::string>(Shape{2}, {"a", "bc"}),
      Tensor::FromValues<float>(Shape{0, 3}, {}),
  };
  for (const Tensor& tensor : tensors) {
    Result<Tensor> read = ReadTensor(WriteTensorProto(tensor, "t"));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_TRUE(BitwiseEqual(*read, tensor)) << tensor.TypeString();
  }
}

TEST(ValueFile, ReadsNamesAndFiles) {
  const test::TempFolder folder;
  const Tensor tensor = Tensor::FromValues<float>(Shape{1}, {3});
  const std::string path = folder.Write("t.pb", WriteTensorProto(tensor, "weights"));
  std::string name;
  Result<Tensor> read = ReadTensorFile(path, &name);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(name, "weights");
  EXPECT_THAT(ReadTensorFile(path + "x").status().message(), HasSubstr("t.pbx"));
}

TEST(ValueFile, ReadsTypedFields) {
  Result<Tensor> half =
      ReadTensor(Typed(DType::kFloat16, 2, 5, std::string_view("\x80\x78\x00", 3)));
  ASSERT_TRUE(half.ok()) << half.status().message();
  EXPECT_EQ(static_cast<float>(half->At<Float16>(0)), 1.0f);
  Result<Tensor> bytes =
      ReadTensor(Typed(DType::kInt8, 2, 5, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x7f"));
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  EXPECT_EQ(bytes->At<int8_t>(0), -1);
  EXPECT_EQ(bytes->At<int8_t>(1), 127);
  Result<Tensor> bools = ReadTensor(Typed(DType::kBool, 2, 5, std::string_view("\x05\x00", 2)));
  ASSERT_TRUE(bools.ok()) << bools.status().message();
  EXPECT_TRUE(bools->At<bool>(0));
  Result<Tensor> nibbles = ReadTensor(Typed(DType::kUint4, 3, 5, "\x21\x03"));
  ASSERT_TRUE(nibbles.ok()) << nibbles.status().message();
  EXPECT_EQ(nibbles->At<uint8_t>(0), 0x21);
  // 0.5, -1, 7.5, 0 and 2 of float6e2m3, an entry each.
  Result<Tensor> sixes =
      ReadTensor(Typed(DType::kFloat6E2M3, 5, 5, std::string_view("\x04\x28\x1f\x00\x10", 5)));
  ASSERT_TRUE(sixes.ok()) << sixes.status().message();
  EXPECT_THAT(sixes->bytes(),
              ElementsAre(std::byte{0x04}, std::byte{0xfa}, std::byte{0x01}, std::byte{0x10}));
  EXPECT_THAT(ReadTensor(Typed(DType::kFloat6E2M3, 5, 5, "\x04\x28")).status().message(),
              HasSubstr("found 2 values, expected 5"));
  Result<Tensor> wide = ReadTensor(Typed(DType::kUint32, 1, 11, "\x07"));
  ASSERT_TRUE(wide.ok()) << wide.status().message();
  EXPECT_EQ(wide->At<uint32_t>(0), 7u);
}

TEST(ValueFile, RefusesWrongTypedFields) {
  EXPECT_THAT(ReadTensor(Typed(DType::kInt64, 3, 7, "\x01")).status().message(),
              HasSubstr("found 1 values, expected 3 for int64[3]"));
  EXPECT_THAT(ReadTensor(Typed(DType::kUint8, 1, 5, "\x80\x08")).status().message(),
              HasSubstr("outside the range of uint8"));
  EXPECT_THAT(ReadTensor(Typed(DType::kFloat32, 1, 4, "123")).status().message(),
              HasSubstr("expected 32-bit values"));
  EXPECT_THAT(ReadTensor(Typed(DType::kFloat32, int64_t{1} << 40, 4, "1234")).status().message(),
              HasSubstr("found 1 values"));
}

TEST(ValueFile, BoolsAreZeroOrOne) {
  const std::string message = test::RawTensorMessage("b", 9, {2}, std::string("\x02\x00", 2));
  Result<Tensor> bools = ReadTensor(message);
  ASSERT_TRUE(bools.ok()) << bools.status().message();
  EXPECT_EQ(bools->bytes()[0], std::byte{1});
}

TEST(ValueFile, ReadsSequencesOptionalsAndMaps) {
  const std::string tensor = WriteTensorProto(Tensor::FromValues<float>(Shape{1}, {3}), "");
  const ValueType element = ValueType::OfTensor(DType::kFloat32);
  ProtobufWriter sequence;
  sequence.Bytes(3, tensor);
  sequence.Bytes(3, tensor);
  Result<Value> read = ReadValueProto(BytesOf(sequence.bytes()), ValueType::OfSequence(element));
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_NE(read->sequence(), nullptr);
  EXPECT_EQ(read->sequence()->size(), 2u);

  ProtobufWriter nothing;
  nothing.Int64(2, 1);
  Result<Value> optional = ReadValueProto(BytesOf(nothing.bytes()), ValueType::OfOptional(element));
  ASSERT_TRUE(optional.ok());
  EXPECT_TRUE(optional->empty());

  ProtobufWriter map;
  map.Int64(3, 5);
  map.Int64(3, 6);
  map.Message(5, sequence);
  Result<Value> mapped =
      ReadValueProto(BytesOf(map.bytes()), ValueType::OfMap(DType::kInt64, element));
  ASSERT_TRUE(mapped.ok()) << mapped.status().message();
  ASSERT_NE(mapped->int64_map(), nullptr);
  EXPECT_EQ(mapped->int64_map()->size(), 2u);
}

}  // namespace
}  // namespace kheya
