#include "data/preprocess.h"

#include <gmock/gmock.h>

#include "codec/picture.h"

namespace kheya {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ModelSpec Spec(std::string_view keys) {
  Result<ModelSpec> spec = ModelSpec::Parse(R"({"version": 1, )" + std::string(keys) + "}");
  EXPECT_TRUE(spec.ok()) << spec.status().ToString();
  return *spec;
}

// One row of two pixels: red-ish (10, 20, 30) and (40, 50, 60).
Tensor TwoPixels() { return Tensor::FromValues<uint8_t>(Shape{1, 2, 3}, {10, 20, 30, 40, 50, 60}); }

template <typename T>
std::vector<T> Preprocess(const ModelSpec& spec, const Tensor& picture) {
  const Shape shape = PictureShape(spec, picture.shape()[0], picture.shape()[1]);
  std::vector<T> out(static_cast<size_t>(shape.num_elements()));
  const Status status = PreprocessPicture(spec, picture.view(), out.data());
  EXPECT_TRUE(status.ok()) << status.ToString();
  return out;
}

TEST(Preprocess, OrdersChannels) {
  EXPECT_THAT(Preprocess<float>(Spec(R"("layout": "NCHW")"), TwoPixels()),
              ElementsAre(10, 40, 20, 50, 30, 60));
  EXPECT_THAT(Preprocess<float>(Spec(R"("layout": "NHWC")"), TwoPixels()),
              ElementsAre(10, 20, 30, 40, 50, 60));
  EXPECT_THAT(Preprocess<float>(Spec(R"("layout": "NHWC", "color": "BGR")"), TwoPixels()),
              ElementsAre(30, 20, 10, 60, 50, 40));
  EXPECT_THAT(Preprocess<uint8_t>(Spec(R"("dtype": "uint8", "color": "BGR")"), TwoPixels()),
              ElementsAre(30, 60, 20, 50, 10, 40));
}

TEST(Preprocess, NormalizesByChannel) {
  EXPECT_THAT(Preprocess<float>(
                  Spec(R"("layout": "NHWC", "scale": 0.5, "mean": [1, 2, 3], "std": [1, 2, 4])"),
                  TwoPixels()),
              ElementsAre(4, 4, 3, 19, 11.5, 6.75));
  // Means follow the order of the model's channels, not the picture's.
  EXPECT_THAT(Preprocess<float>(Spec(R"("layout": "NHWC", "color": "BGR", "mean": [30, 20, 10])"),
                                TwoPixels()),
              ElementsAre(0, 0, 0, 30, 30, 30));
  EXPECT_THAT(
      Preprocess<float>(Spec(R"("layout": "NHWC", "mean": [10], "std": [10])"), TwoPixels()),
      ElementsAre(0, 1, 2, 3, 4, 5));
}

// A gray ramp: columns 0, 10, 20, 30.
Tensor Ramp() {
  return Tensor::FromValues<uint8_t>(Shape{2, 4, 1}, {0, 10, 20, 30, 0, 10, 20, 30});
}

TEST(Preprocess, CropsTheMiddle) {
  EXPECT_THAT(
      Preprocess<float>(Spec(R"("color": "GRAY", "resize": "crop", "size": [2, 2])"), Ramp()),
      ElementsAre(10, 20, 10, 20));
  // An odd column goes from the end.
  EXPECT_THAT(
      Preprocess<float>(Spec(R"("color": "GRAY", "resize": "crop", "size": [2, 3])"), Ramp()),
      ElementsAre(0, 10, 20, 0, 10, 20));
}

TEST(Preprocess, PadsBothEnds) {
  const Tensor pair = Tensor::FromValues<uint8_t>(Shape{1, 2, 1}, {50, 60});
  EXPECT_THAT(Preprocess<float>(
                  Spec(R"("color": "GRAY", "resize": "pad", "size": [4, 2], "mean": [10])"), pair),
              ElementsAre(-10, -10, 40, 50, -10, -10, -10, -10));
}

TEST(Preprocess, Stretches) {
  EXPECT_THAT(Preprocess<float>(Spec(R"("color": "GRAY", "size": [1, 4])"), Ramp()),
              ElementsAre(0, 10, 20, 30));
}

TEST(Preprocess, NarrowStripsTakeLittleMemory) {
  const Tensor strip = *Tensor::Allocate(DType::kUint8, Shape{1, 16384, 3});
  std::vector<float> out(3 * 224 * 224);
  const auto budget = std::make_shared<MemoryBudget>("test", 1 << 20);
  for (const char* mode : {"crop", "pad"}) {
    const ModelSpec spec = Spec(R"("size": [224, 224], "resize": ")" + std::string(mode) + R"(")");
    EXPECT_TRUE(PreprocessPicture(spec, strip.view(), out.data(), budget).ok()) << mode;
  }
}

TEST(Preprocess, RefusesOtherArrays) {
  float out[6];
  const ModelSpec gray = Spec(R"("color": "GRAY")");
  EXPECT_THAT(PreprocessPicture(gray, TwoPixels().view(), out).message(),
              HasSubstr("found a picture uint8[1,2,3], expected uint8[height,width,1]"));
  const Tensor floats = Tensor::FromValues<float>(Shape{1, 1, 1}, {1});
  EXPECT_FALSE(PreprocessPicture(gray, floats.view(), out).ok());
  const Tensor empty = *Tensor::Allocate(DType::kUint8, Shape{0, 4, 1});
  EXPECT_FALSE(PreprocessPicture(gray, empty.view(), out).ok());
}

TEST(Preprocess, DecodesFiles) {
  const std::string file = *EncodePng(TwoPixels().view());
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(file.data()),
                                         file.size());
  Result<Tensor> tensor = PictureToTensor(Spec(R"("layout": "NHWC", "scale": 2)"), bytes);
  ASSERT_TRUE(tensor.ok()) << tensor.status().ToString();
  EXPECT_EQ(tensor->TypeString(), "float32[1,1,2,3]");
  EXPECT_THAT(tensor->data<float>(), ElementsAre(20, 40, 60, 80, 100, 120));
  EXPECT_FALSE(PictureToTensor(Spec(R"("layout": "NHWC")"), bytes.first(30)).ok());
}

}  // namespace
}  // namespace kheya
