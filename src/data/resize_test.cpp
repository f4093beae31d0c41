#include "data/resize.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/file.h"
#include "codec/npy.h"

namespace kheya {
namespace {

NamedTensors ReadCase(const std::string& name) {
  const std::string path = std::string(KHEYA_SOURCE_DIR) + "/tests/cases/data/" + name;
  Result<MappedFile> file = MappedFile::Open(path);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  Result<NamedTensors> arrays = ReadNpz(file->bytes());
  EXPECT_TRUE(arrays.ok()) << arrays.status().ToString();
  return *arrays;
}

PixelDims DimsOf(const Tensor& picture) {
  return {picture.shape()[0], picture.shape()[1], picture.shape()[2]};
}

TEST(Resize, GivesPillowsBytes) {
  for (const char* name : {"resize_color.npz", "resize_gray.npz", "resize_strip.npz"}) {
    const NamedTensors arrays = ReadCase(name);
    ASSERT_EQ(arrays.size(), 8u);
    const Tensor& picture = arrays[0].second;
    for (size_t i = 1; i < arrays.size(); ++i) {
      const Tensor& expected = arrays[i].second;
      const PixelDims dims = DimsOf(expected);
      Result<Buffer> found =
          ResizePixels(picture.data<uint8_t>().data(), DimsOf(picture),
                       {dims.height, 0, dims.height}, {dims.width, 0, dims.width});
      ASSERT_TRUE(found.ok());
      ASSERT_EQ(found->size(), expected.num_bytes());
      EXPECT_EQ(std::memcmp(found->data(), expected.bytes().data(), found->size()), 0)
          << name << " " << arrays[i].first;
    }
  }
}

TEST(Resize, WindowsArePartsOfTheWhole) {
  const NamedTensors arrays = ReadCase("resize_color.npz");
  const Tensor& picture = arrays[0].second;
  const uint8_t* pixels = picture.data<uint8_t>().data();
  const PixelDims dims = DimsOf(picture);
  Result<Buffer> whole = ResizePixels(pixels, dims, {24, 0, 24}, {11, 0, 11});
  Result<Buffer> part = ResizePixels(pixels, dims, {24, 5, 7}, {11, 2, 6});
  ASSERT_TRUE(whole.ok() && part.ok());
  for (int64_t y = 0; y < 7; ++y) {
    EXPECT_EQ(std::memcmp(part->data() + y * 6 * 3, whole->data() + ((y + 5) * 11 + 2) * 3, 6 * 3),
              0);
  }
}

TEST(Resize, MemoryFollowsTheWindow) {
  const std::vector<uint8_t> strip(16384, 77);
  const auto budget = std::make_shared<MemoryBudget>("test", 1 << 20);
  Result<Buffer> middle = ResizePixels(strip.data(), {1, 16384, 1}, {224, 0, 224},
                                       {16384 * 224, 16384 * 112 - 112, 224}, budget);
  ASSERT_TRUE(middle.ok()) << middle.status().ToString();
  for (const std::byte value : middle->bytes()) EXPECT_EQ(value, std::byte{77});
  EXPECT_EQ(ResizePixels(strip.data(), {1, 16384, 1}, {2048, 0, 2048}, {2048, 0, 2048}, budget)
                .status()
                .code(),
            StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace kheya
