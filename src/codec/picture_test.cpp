#include "codec/picture.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "codec/npy.h"
#include "codec/picture_decoder.h"
#include "codec/test_files.h"

namespace kheya {
namespace {

using ::testing::HasSubstr;

std::string Picture(const std::string& name) {
  return ReadTestFile(CodecFolder("pictures/" + name));
}

// Every picture decodes to exactly the bytes of PICTURE.npy (made with Pillow).
TEST(Picture, DecodesAsExpected) {
  const std::vector<std::string> paths = FilesIn(CodecFolder("pictures"), ".npy");
  EXPECT_EQ(paths.size(), 58u);
  for (const std::string& path : paths) {
    const Tensor expected = *ReadNpy(AsBytes(ReadTestFile(path)));
    const std::string file = ReadTestFile(path.substr(0, path.size() - 4));
    Result<Tensor> found = DecodePicture(AsBytes(file), 3);
    ASSERT_TRUE(found.ok()) << path << " " << found.status().ToString();
    EXPECT_TRUE(BitwiseEqual(*found, expected))
        << path << " found " << found->TypeString() << ", expected " << expected.TypeString();
  }
}

TEST(Picture, MakesColourGray) {
  const Tensor color = *DecodePicture(AsBytes(Picture("rgb.png")), 3);
  Result<Tensor> gray = DecodePicture(AsBytes(Picture("rgb.png")), 1);
  ASSERT_TRUE(gray.ok());
  ASSERT_EQ(gray->shape(), (Shape{13, 18, 1}));
  for (int64_t i = 0; i < gray->num_elements(); ++i) {
    const std::span<const uint8_t> rgb = color.data<uint8_t>().subspan(3 * i, 3);
    EXPECT_NEAR(gray->data<uint8_t>()[i], 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2], 0.51);
  }
}

TEST(Picture, KeepsGray) {
  const Tensor wide = *DecodePicture(AsBytes(Picture("gray.jpg")), 3);
  const Tensor gray = *DecodePicture(AsBytes(Picture("gray.jpg")), 1);
  for (int64_t i = 0; i < gray.num_elements(); ++i) {
    EXPECT_EQ(gray.data<uint8_t>()[i], wide.data<uint8_t>()[3 * i + 1]);
  }
}

TEST(Picture, ReadsHeaders) {
  Result<PictureInfo> info = ReadPictureInfo(AsBytes(Picture("lossy.webp")));
  ASSERT_TRUE(info.ok());
  EXPECT_STREQ(PictureFormatName(info->format), "WebP");
  EXPECT_EQ(info->width, 18);
  EXPECT_EQ(info->height, 13);
}

TEST(Picture, ReadsWhatItWrites) {
  for (const int channels : {1, 3}) {
    const Tensor picture = *DecodePicture(AsBytes(Picture("rgb.png")), channels);
    Result<std::string> file = EncodePng(picture.view());
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE(BitwiseEqual(*DecodePicture(AsBytes(*file), channels), picture));
  }
  EXPECT_FALSE(EncodePng(Tensor::FromValues<float>(Shape{1, 1, 1}, {1}).view()).ok());
  EXPECT_FALSE(EncodePng(Tensor::FromValues<uint8_t>(Shape{1, 1, 2}, {1, 2}).view()).ok());
  EXPECT_FALSE(EncodePng(Tensor::Allocate(DType::kUint8, Shape{0, 1, 1})->view()).ok());
}

TEST(Picture, KeepsItsLimits) {
  for (const char* name :
       {"rgb.jpg", "rgb.png", "lossy.webp", "rgb.bmp", "rgb.ppm", "rgb.tiff", "rgb.jp2"}) {
    const std::string file = Picture(name);
    EXPECT_EQ(DecodePicture(AsBytes(file), 3, {.max_side = 17}).status().code(),
              StatusCode::kResourceExhausted);
    EXPECT_EQ(DecodePicture(AsBytes(file), 3, {.max_pixels = 13 * 18 - 1}).status().code(),
              StatusCode::kResourceExhausted);
    EXPECT_TRUE(DecodePicture(AsBytes(file), 3, {.max_side = 18, .max_pixels = 13 * 18}).ok());
    const auto budget = std::make_shared<MemoryBudget>("test", 100);
    EXPECT_THAT(DecodePicture(AsBytes(file), 3, PictureLimits(), budget).status().message(),
                HasSubstr("test"));
  }
  std::string huge = Picture("rgb.png");
  huge.replace(16, 8, "\x7f\xff\xff\xff\x7f\xff\xff\xff");
  EXPECT_FALSE(DecodePicture(AsBytes(huge), 3).ok());
}

TEST(Picture, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(DecodePicture(AsBytes("GIF89a"), 3).status().message(),
              HasSubstr("expected a picture: JPEG, PNG"));
  EXPECT_FALSE(DecodePicture({}, 3).ok());
  const Status animation = DecodePicture(AsBytes(Picture("animation.webp")), 3).status();
  EXPECT_EQ(animation.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(animation.message(), HasSubstr("WebP picture: animations"));
  EXPECT_FALSE(DecodePicture(AsBytes(Picture("rgb.png")), 4).ok());
}

// 156 bytes that would take gigabytes of tables.
TEST(Picture, RefusesTinyPrecincts) {
  const Status status = DecodePicture(AsBytes(Picture("tiny-precincts.j2k")), 3).status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("JPEG 2000 picture: precincts of under 32 pixels"));
}

TEST(Picture, SurvivesDamage) {
  for (const std::string& path : FilesIn(CodecFolder("pictures"), ".npy")) {
    const std::string file = ReadTestFile(path.substr(0, path.size() - 4));
    ForEachDamage(file, 500, [&](std::span<const std::byte> bytes) {
      Result<Tensor> picture = DecodePicture(bytes, 3, {.max_pixels = 1 << 20});
      // What follows the pixels is not read: only the last bytes may be missing.
      if (bytes.size() + 16 < file.size()) {
        EXPECT_FALSE(picture.ok()) << path << bytes.size();
      }
    });
  }
}

TEST(Exif, SurvivesDamage) {
  const std::string exif("Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0", 28);
  EXPECT_EQ(ReadExifOrientation(AsBytes(exif)), 6);
  EXPECT_EQ(ReadExifOrientation({}), 1);
  ForEachDamage(exif, 5000, [&](std::span<const std::byte> bytes) {
    const int orientation = ReadExifOrientation(bytes);
    EXPECT_GE(orientation, 1);
    EXPECT_LE(orientation, 8);
  });
}

}  // namespace
}  // namespace kheya
