#include "data/resize.h"

#include <algorithm>
#include <cmath>

namespace kheya {
namespace {

// The inputs [first, first + weights.size()) that one output is made of.
struct Taps {
  int64_t first = 0;
  std::vector<float> weights;
};

std::vector<Taps> TriangleTaps(int64_t in, int64_t out) {
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double support = std::max(1.0, scale);
  std::vector<Taps> all(out);
  for (int64_t i = 0; i < out; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<int64_t>(0, static_cast<int64_t>(centre - support + 0.5));
    const auto last = std::min<int64_t>(in, static_cast<int64_t>(centre + support + 0.5));
    std::vector<double> weights;
    double sum = 0;
    for (int64_t k = first; k < last; ++k) {
      const double distance = std::abs((static_cast<double>(k) + 0.5 - centre) / support);
      weights.push_back(std::max(0.0, 1.0 - distance));
      sum += weights.back();
    }
    all[i].first = first;
    for (double weight : weights) all[i].weights.push_back(static_cast<float>(weight / sum));
  }
  return all;
}

uint8_t ToPixel(float value) {
  return static_cast<uint8_t>(std::clamp(std::floor(value + 0.5f), 0.0f, 255.0f));
}

// Resizes the middle axis of [outer, taps' inputs, inner].
std::vector<uint8_t> ResizeAxis(const uint8_t* from, int64_t outer, int64_t in, int64_t inner,
                                int64_t out) {
  const std::vector<Taps> taps = TriangleTaps(in, out);
  std::vector<uint8_t> to(static_cast<size_t>(outer * out * inner));
  std::vector<float> sums(inner);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < out; ++i) {
      std::fill(sums.begin(), sums.end(), 0.0f);
      for (size_t k = 0; k < taps[i].weights.size(); ++k) {
        const uint8_t* row = from + (o * in + taps[i].first + static_cast<int64_t>(k)) * inner;
        for (int64_t j = 0; j < inner; ++j) sums[j] += taps[i].weights[k] * row[j];
      }
      for (int64_t j = 0; j < inner; ++j) to[(o * out + i) * inner + j] = ToPixel(sums[j]);
    }
  }
  return to;
}

}  // namespace

std::vector<uint8_t> ResizePixels(const uint8_t* pixels, const PixelDims& dims, int64_t height,
                                  int64_t width) {
  const std::vector<uint8_t> wide =
      ResizeAxis(pixels, dims.height, dims.width, dims.channels, width);
  return ResizeAxis(wide.data(), 1, dims.height, width * dims.channels, height);
}

}  // namespace kheya
