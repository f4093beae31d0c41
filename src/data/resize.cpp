#include "data/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kheya {
namespace {

// Weights are multiples of 2^-22, as in Pillow's 8-bit path: sums are exact in 32 bits, so results
// are the same on every machine.
constexpr int kWeightBits = 22;

// Halves go up. Negative values, which Pillow cuts toward 0, are clamped to 0 by the caller.
int64_t Nearest(double value) { return static_cast<int64_t>(std::floor(value + 0.5)); }

// The inputs [first, first + weights.size()) that one output is made of.
struct Taps {
  int64_t first = 0;
  std::vector<int32_t> weights;
};

Taps TapsOf(int64_t output, double scale, int64_t inputs) {
  const double support = std::max(1.0, scale);
  const double inverse = 1.0 / support;
  const double centre = (static_cast<double>(output) + 0.5) * scale;
  const auto first = std::max<int64_t>(0, Nearest(centre - support));
  const auto last = std::min<int64_t>(inputs, Nearest(centre + support));
  std::vector<double> exact;
  double sum = 0;
  for (int64_t k = first; k < last; ++k) {
    const double distance = std::abs((static_cast<double>(k) - centre + 0.5) * inverse);
    exact.push_back(distance < 1.0 ? 1.0 - distance : 0.0);
    sum += exact.back();
  }
  Taps taps{first, {}};
  for (const double weight : exact) {
    taps.weights.push_back(static_cast<int32_t>(Nearest(weight / sum * (1 << kWeightBits))));
  }
  return taps;
}

std::vector<Taps> TriangleTaps(int64_t inputs, const AxisWindow& window) {
  const double scale = static_cast<double>(inputs) / static_cast<double>(window.size);
  std::vector<Taps> all;
  for (int64_t i = 0; i < window.count; ++i) {
    all.push_back(TapsOf(window.first + i, scale, inputs));
  }
  return all;
}

uint8_t ToPixel(int32_t sum) {
  return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255));
}

// Resizes the middle axis of [outer, inputs, inner] to as many as `taps`.
void ResizeAxis(const uint8_t* from, int64_t outer, int64_t inputs, int64_t inner,
                const std::vector<Taps>& taps, uint8_t* to) {
  std::vector<int32_t> sums(static_cast<size_t>(inner));
  for (int64_t o = 0; o < outer; ++o, from += inputs * inner) {
    for (const Taps& tap : taps) {
      std::fill(sums.begin(), sums.end(), 1 << (kWeightBits - 1));
      const uint8_t* source = from + tap.first * inner;
      for (const int32_t weight : tap.weights) {
        for (int64_t j = 0; j < inner; ++j) sums[j] += weight * source[j];
        source += inner;
      }
      for (const int32_t sum : sums) *to++ = ToPixel(sum);
    }
  }
}

uint8_t* Bytes(Buffer& buffer) { return reinterpret_cast<uint8_t*>(buffer.data()); }

}  // namespace

Result<Buffer> ResizePixels(const uint8_t* pixels, const PixelDims& dims, const AxisWindow& rows,
                            const AxisWindow& columns,
                            const std::shared_ptr<MemoryBudget>& budget) {
  std::vector<Taps> down = TriangleTaps(dims.height, rows);
  const std::vector<Taps> across = TriangleTaps(dims.width, columns);
  // Only the rows that the window is made of.
  const int64_t top = down.front().first;
  const int64_t used = down.back().first + static_cast<int64_t>(down.back().weights.size()) - top;
  for (Taps& taps : down) taps.first -= top;

  const int64_t row = columns.count * dims.channels;
  KHEYA_ASSIGN_OR_RETURN(Buffer wide, Buffer::Allocate(static_cast<size_t>(used * row), budget));
  ResizeAxis(pixels + top * dims.width * dims.channels, used, dims.width, dims.channels, across,
             Bytes(wide));
  KHEYA_ASSIGN_OR_RETURN(Buffer out,
                         Buffer::Allocate(static_cast<size_t>(rows.count * row), budget));
  ResizeAxis(Bytes(wide), 1, used, row, down, Bytes(out));
  return out;
}

}  // namespace kheya
