#include "data/dataset.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "codec/npy.h"
#include "codec/picture.h"

namespace kheya {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void AppendLittleEndian(uint32_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

uint32_t Crc32(const std::string& content) {
  uint32_t crc = ~0u;
  for (const char c : content) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

// A gzip file (RFC 1952) of one stored block, so of less than 64 KiB.
std::string Gzip(const std::string& content) {
  const auto size = static_cast<uint32_t>(content.size());
  std::string file("\x1f\x8b\x08\0\0\0\0\0\0\xff\x01", 11);
  AppendLittleEndian(size, 2, &file);
  AppendLittleEndian(~size, 2, &file);
  file += content;
  AppendLittleEndian(Crc32(content), 4, &file);
  AppendLittleEndian(size, 4, &file);
  return file;
}

class DatasetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/datasetXXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    spec_ = *ModelSpec::Parse(R"({"version": 1, "size": [1, 2], "color": "GRAY"})");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& content) {
    const std::string path = folder_ + "/" + name;
    fs::create_directories(fs::path(path).parent_path());
    ASSERT_TRUE(WriteFileAtomic(path, content).ok());
  }
  void WriteGz(const std::string& name, const std::string& content) { Write(name, Gzip(content)); }
  void WritePicture(const std::string& name, uint8_t first, uint8_t second) {
    const Tensor picture = Tensor::FromValues<uint8_t>(Shape{1, 2, 1}, {first, second});
    Write(name, *EncodePng(picture.view()));
  }

  Result<std::unique_ptr<Dataset>> Open(const std::string& name = "",
                                        const std::string& split = "test") {
    return OpenDataset(folder_ + "/" + name, spec_, {.split = split});
  }

  std::string folder_;
  ModelSpec spec_;
};

std::string Idx(const std::vector<int>& dims, const std::string& data) {
  std::string file("\0\0\x08", 3);
  file.push_back(static_cast<char>(dims.size()));
  for (const int dim : dims) {
    file.append(3, '\0').push_back(static_cast<char>(dim));
  }
  return file + data;
}

// Three pictures of a row of two pixels: (1, 2), (3, 4), (5, 6) of the classes 7, 8, 9.
const std::string kPictures = Idx({3, 1, 2}, "\1\2\3\4\5\6");
const std::string kLabels = Idx({3}, "\7\x08\x09");

void ExpectThreePictures(Dataset* data) {
  EXPECT_EQ(data->size(), 3);
  Result<Batch> batch = data->Next(2);
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  EXPECT_EQ(batch->input.TypeString(), "float32[2,1,1,2]");
  EXPECT_THAT(batch->input.data<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(batch->labels, ElementsAre(7, 8));
  batch = data->Next(2);
  ASSERT_TRUE(batch.ok());
  EXPECT_THAT(batch->input.data<float>(), ElementsAre(5, 6));
  EXPECT_THAT(batch->labels, ElementsAre(9));
  EXPECT_TRUE(data->Next(2)->labels.empty());
}

TEST_F(DatasetTest, ReadsIdx) {
  Write("t10k-images-idx3-ubyte", kPictures);
  Write("t10k-labels-idx1-ubyte", kLabels);
  WriteGz("train-images-idx3-ubyte.gz", kPictures);
  WriteGz("train-labels-idx1-ubyte.gz", kLabels);
  for (const char* split : {"test", "train"}) {
    auto data = Open("", split);
    ASSERT_TRUE(data.ok()) << data.status().ToString();
    EXPECT_STREQ((*data)->kind(), "idx");
    ExpectThreePictures(data->get());
  }
  EXPECT_THAT(Open("", "all").status().message(), HasSubstr("found split 'all'"));
}

TEST_F(DatasetTest, RepeatsGrayForColour) {
  spec_ = *ModelSpec::Parse(R"({"version": 1, "size": [1, 2], "layout": "NHWC"})");
  Write("t10k-images-idx3-ubyte", kPictures);
  Write("t10k-labels-idx1-ubyte", kLabels);
  auto data = Open();
  ASSERT_TRUE(data.ok());
  EXPECT_THAT((*data)->Next(1)->input.data<float>(), ElementsAre(1, 1, 1, 2, 2, 2));
}

TEST_F(DatasetTest, RefusesBadIdx) {
  const std::pair<std::string, const char*> cases[] = {
      {Idx({2, 1, 2}, "1234"), "found 2 pictures and 3 labels"},
      {Idx({3, 1}, "123"), "expected 00 00 08 03"},
      {Idx({3, 0, 2}, ""), "found pictures of 0x2"},
      {"x", "cut off"},
      {"", "cut off"}};
  Write("t10k-labels-idx1-ubyte", kLabels);
  for (const auto& [content, expected] : cases) {
    Write("t10k-images-idx3-ubyte", content);
    EXPECT_THAT(Open().status().message(), HasSubstr(expected));
  }
  Write("t10k-images-idx3-ubyte", kPictures.substr(0, kPictures.size() - 1));
  EXPECT_THAT((*Open())->Next(3).status().message(), HasSubstr("cut off"));
}

TEST_F(DatasetTest, ReadsFoldersByLabel) {
  spec_.labels = {"Dog", "T-shirt/top"};
  WritePicture("t-shirt-top/b.png", 3, 4);
  WritePicture("dog/a.png", 1, 2);
  auto data = Open();
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  EXPECT_STREQ((*data)->kind(), "pictures");
  Result<Batch> batch = (*data)->Next(5);
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  EXPECT_THAT(batch->labels, ElementsAre(0, 1));
  EXPECT_THAT(batch->input.data<float>(), ElementsAre(1, 2, 3, 4));
  WritePicture("cat/a.png", 1, 2);
  EXPECT_THAT(Open().status().message(), HasSubstr("found the folder 'cat', expected a label"));
}

TEST_F(DatasetTest, ReadsFoldersByNumberAndOrder) {
  WritePicture("10/a.png", 1, 2);
  WritePicture("9/a.png", 3, 4);
  EXPECT_THAT((*Open())->Next(5)->labels, ElementsAre(10, 9));
  WritePicture("x/a.png", 5, 6);
  EXPECT_THAT((*Open())->Next(5)->labels, ElementsAre(0, 1, 2));
}

TEST_F(DatasetTest, NamesBadPictures) {
  Write("dog/a.png", "not a picture");
  EXPECT_THAT((*Open())->Next(1).status().message(), HasSubstr("dog/a.png'"));
  spec_ = *ModelSpec::Parse(R"({"version": 1, "color": "GRAY"})");
  WritePicture("dog/a.png", 1, 2);
  Write("dog/b.png", *EncodePng(Tensor::FromValues<uint8_t>(Shape{1, 1, 1}, {1}).view()));
  EXPECT_THAT((*Open())->Next(2).status().message(), HasSubstr("expected one size"));
}

TEST_F(DatasetTest, ReadsNpz) {
  const Tensor y = Tensor::FromValues<int32_t>(Shape{3}, {7, 8, 9});
  const Tensor pictures = Tensor::FromValues<uint8_t>(Shape{3, 1, 2}, {1, 2, 3, 4, 5, 6});
  Write("a.npz", *WriteNpz({{"images", pictures}, {"labels", y}}));
  auto data = Open("a.npz");
  ASSERT_TRUE(data.ok()) << data.status().ToString();
  EXPECT_STREQ((*data)->kind(), "npz");
  ExpectThreePictures(data->get());

  const Tensor rows = Tensor::FromValues<float>(Shape{3, 2}, {1, 2, 3, 4, 5, 6});
  Write("b.npz", *WriteNpz({{"x", rows}, {"y", y}}));
  Result<Batch> batch = (*Open("b.npz"))->Next(2);
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->input.TypeString(), "float32[2,2]");
  EXPECT_THAT(batch->input.data<float>(), ElementsAre(1, 2, 3, 4));
}

TEST_F(DatasetTest, RefusesBadNpz) {
  const Tensor x = Tensor::FromValues<float>(Shape{2}, {1, 2});
  Write("a.npz", *WriteNpz({{"x", x}}));
  EXPECT_FALSE(Open("a.npz").ok());
  Write("a.npz", *WriteNpz({{"x", x}, {"y", Tensor::FromValues<int64_t>(Shape{1}, {1})}}));
  EXPECT_THAT(Open("a.npz").status().message(), HasSubstr("found samples float32[2]"));
  Write("a.npz", *WriteNpz({{"x", x}, {"y", x}}));
  EXPECT_THAT(Open("a.npz").status().message(), HasSubstr("the array of labels"));
  Write("a.npz", "PK");
  EXPECT_THAT(Open("a.npz").status().message(), HasSubstr("a.npz'"));
}

TEST_F(DatasetTest, NamesWhatIsMissing) {
  EXPECT_EQ(Open("nothing").status().code(), StatusCode::kNotFound);
  EXPECT_THAT(Open().status().message(), HasSubstr("found neither IDX files nor a folder"));
}

}  // namespace
}  // namespace kheya
