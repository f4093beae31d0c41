#include "codec/npy.h"

#include <gmock/gmock.h>

#include <complex>

#include "codec/test_files.h"

namespace kheya {
namespace {

using ::testing::HasSubstr;

std::string MakeNpy(std::string_view dictionary, std::string_view data = "") {
  std::string file("\x93NUMPY\x01\x00", 8);
  AppendLittle(&file, static_cast<uint16_t>(dictionary.size()));
  return file.append(dictionary).append(data);
}

Status ReadStatus(const std::string& file) { return ReadNpy(AsBytes(file)).status(); }

double ElementOf(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kFloat64:
      return tensor.data<double>()[i];
    case DType::kFloat32:
      return tensor.data<float>()[i];
    case DType::kFloat16:
      return tensor.data<Float16>()[i];
    case DType::kComplex64:
      return tensor.At<std::complex<float>>(i).real();
    case DType::kComplex128:
      return tensor.At<std::complex<double>>(i).real();
    case DType::kUint64:
      return static_cast<double>(tensor.data<uint64_t>()[i]);
    default:
      return static_cast<double>((*ToInt64s(tensor))[i]);
  }
}

// The files hold 0 to 23 as [2, 3, 4] in every type, order and version.
TEST(Npy, ReadsWhatNumpyWrites) {
  const std::vector<std::string> paths = FilesIn(CodecFolder("arrays"), ".npy");
  EXPECT_EQ(paths.size(), 18u);
  for (const std::string& path : paths) {
    Result<Tensor> tensor = ReadNpy(AsBytes(ReadTestFile(path)));
    ASSERT_TRUE(tensor.ok()) << path << " " << tensor.status().ToString();
    ASSERT_EQ(tensor->shape(), (Shape{2, 3, 4})) << path;
    for (int64_t i = 0; i < 24; ++i) {
      const double expected = tensor->dtype() == DType::kBool ? (i != 0) : static_cast<double>(i);
      EXPECT_EQ(ElementOf(*tensor, i), expected) << path << " element " << i;
    }
  }
}

TEST(Npy, ReadsWhatItWrites) {
  const Tensor tensors[] = {Tensor::FromValues<float>(Shape{2, 2}, {1, -2, 3.5f, 4}),
                            Tensor::Scalar<int64_t>(-5), Tensor::FromValues<bool>(Shape{1}, {true}),
                            Tensor::FromValues<Float16>(Shape{0, 3}, std::span<const Float16>())};
  for (const Tensor& tensor : tensors) {
    Result<std::string> file = WriteNpy(tensor);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(ParseNpyHeader(AsBytes(*file))->data_offset % 64, 0u);
    Result<Tensor> back = ReadNpy(AsBytes(*file));
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_TRUE(BitwiseEqual(tensor, *back)) << tensor.TypeString();
  }
  EXPECT_EQ(WriteNpy(*Tensor::Allocate(DType::kBFloat16, Shape{1})).status().code(),
            StatusCode::kUnimplemented);
}

TEST(Npy, MakesBoolsOfOtherBytes) {
  Result<Tensor> tensor = ReadNpy(AsBytes(MakeNpy(
      "{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", std::string("\x05\0", 2))));
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->At<uint8_t>(0), 1);
  EXPECT_EQ(tensor->At<uint8_t>(1), 0);
}

TEST(Npy, RefusesBadHeaders) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "expected a dictionary"},
      {"{}", "expected descr, fortran_order and shape"},
      {"{'descr': '<f4', 'fortran_order': False}", "expected descr, fortran_order and shape"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': ()}", "type '|O'"},
      {"{'descr': '<U5', 'fortran_order': False, 'shape': ()}", "array type '<U5'"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "found a type near"},
      {"{'descr': '<f4', 'descr': '<f4', 'shape': ()}", "found 'descr' twice"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", "expected True or False"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': [1]}", "expected a tuple"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "found shape near '-1"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
       "than can be counted"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "shape near"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "found key 'x'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "behind the dictionary"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", "expected ',' or '}'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "found 0 bytes of data"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", "of data, expected"},
  };
  for (const auto& [header, expected] : cases) {
    EXPECT_THAT(ReadStatus(MakeNpy(header)).message(), HasSubstr(expected)) << header;
  }
  std::string newer = MakeNpy("{}");
  newer[6] = 4;
  EXPECT_EQ(ReadStatus(newer).code(), StatusCode::kUnimplemented);
}

TEST(Npy, SurvivesDamage) {
  for (const char* name : {"arrays/fortran.npy", "arrays/version3.npy", "arrays/big-c16.npy"}) {
    const std::string content = ReadTestFile(CodecFolder(name));
    int refused = 0;
    ForEachDamage(content, 3000, [&](std::span<const std::byte> bytes) {
      const bool good = ReadNpy(bytes).ok();
      refused += good ? 0 : 1;
      if (bytes.size() < content.size()) {
        EXPECT_FALSE(good) << name;
      }
    });
    EXPECT_GT(refused, 1000) << name;
  }
}

TEST(Npz, ReadsWhatNumpyWrites) {
  for (const char* name : {"arrays/stored.npz", "arrays/deflated.npz"}) {
    Result<NamedTensors> tensors = ReadNpz(AsBytes(ReadTestFile(CodecFolder(name))));
    ASSERT_TRUE(tensors.ok()) << tensors.status().ToString();
    ASSERT_EQ(tensors->size(), 2u);
    EXPECT_EQ((*tensors)[0].first, "x");
    EXPECT_EQ((*tensors)[0].second.TypeString(), "float32[2,3,4]");
    EXPECT_EQ((*tensors)[1].first, "y");
    EXPECT_EQ((*tensors)[1].second.data<int64_t>()[0], 1);
  }
}

TEST(Npz, ReadsWhatItWrites) {
  const NamedTensors tensors = {{"one", Tensor::FromValues<float>(Shape{2}, {1, 2})},
                                {"two", Tensor::FromValues<int8_t>(Shape{1, 1}, {3})}};
  Result<std::string> file = WriteNpz(tensors);
  ASSERT_TRUE(file.ok());
  Result<NamedTensors> back = ReadNpz(AsBytes(*file));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  ASSERT_EQ(back->size(), 2u);
  EXPECT_TRUE(BitwiseEqual((*back)[1].second, tensors[1].second));
}

}  // namespace
}  // namespace kheya
