#include "kernels/reference/packed_weights.h"

namespace kheya::kernels {
namespace {

// Sign, two bits of exponent, one of mantissa, the largest being 1.
constexpr float kFp4[16] = {
    0.0f,  5.208333333e-03f,  0.66666667f,  1.0f,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
    -0.0f, -5.208333333e-03f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f};
// The 16 quantiles of a normal distribution, scaled to [-1, 1].
constexpr float kNf4[16] = {-1.0f,
                            -0.6961928009986877f,
                            -0.5250730514526367f,
                            -0.39491748809814453f,
                            -0.28444138169288635f,
                            -0.18477343022823334f,
                            -0.09105003625154495f,
                            0.0f,
                            0.07958029955625534f,
                            0.16093020141124725f,
                            0.24611230194568634f,
                            0.33791524171829224f,
                            0.44070982933044434f,
                            0.5626170039176941f,
                            0.7229568362236023f,
                            1.0f};

// Number `index` of `bits` bits, low bits first.
unsigned BitsAt(std::span<const uint8_t> packed, int64_t index, int bits) {
  const int64_t per_byte = 8 / bits;
  const unsigned byte = packed[static_cast<size_t>(index / per_byte)];
  return (byte >> (index % per_byte * bits)) & ((1u << bits) - 1);
}

}  // namespace

std::vector<float> UnpackZeroPoints(const BlockLayout& layout, std::span<const uint8_t> packed) {
  std::vector<float> zeros;
  const auto size = static_cast<size_t>(layout.zero_bytes());
  for (int64_t column = 0; column < layout.columns; ++column) {
    const auto own = packed.subspan(static_cast<size_t>(column) * size, size);
    for (int64_t block = 0; block < layout.blocks(); ++block) {
      zeros.push_back(static_cast<float>(BitsAt(own, block, layout.bits)));
    }
  }
  return zeros;
}

void UnpackBlocks(const BlockLayout& layout, std::span<const int64_t> block_of_row,
                  std::span<const uint8_t> packed, std::span<const float> scales,
                  std::span<const float> zeros, std::span<float> weights) {
  const auto size = static_cast<size_t>(layout.column_bytes());
  for (int64_t column = 0; column < layout.columns; ++column) {
    const auto own = packed.subspan(static_cast<size_t>(column) * size, size);
    for (int64_t row = 0; row < layout.rows; ++row) {
      const auto block =
          static_cast<size_t>(column * layout.blocks() + block_of_row[static_cast<size_t>(row)]);
      const auto q = static_cast<float>(BitsAt(own, row, layout.bits));
      weights[static_cast<size_t>(row * layout.columns + column)] =
          (q - zeros[block]) * scales[block];
    }
  }
}

void UnpackFourBitFloats(const BlockLayout& layout, bool normal, std::span<const uint8_t> packed,
                         std::span<const float> scales, std::span<float> weights) {
  const float* table = normal ? kNf4 : kFp4;
  for (int64_t column = 0; column < layout.columns; ++column) {
    for (int64_t row = 0; row < layout.rows; ++row) {
      const int64_t at = column * layout.rows + row;
      const unsigned byte = packed[static_cast<size_t>(at / 2)];
      const unsigned q = at % 2 == 0 ? byte >> 4 : byte & 15;
      weights[static_cast<size_t>(row * layout.columns + column)] =
          table[q] * scales[static_cast<size_t>(at / layout.block)];
    }
  }
}

}  // namespace kheya::kernels
