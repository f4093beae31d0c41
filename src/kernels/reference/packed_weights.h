// Weights of 2, 4 or 8 bits in blocks along the inner axis, as MatMulNBits and MatMulBnb4 of
// com.microsoft store them.
#ifndef KHEYA_KERNELS_REFERENCE_PACKED_WEIGHTS_H_
#define KHEYA_KERNELS_REFERENCE_PACKED_WEIGHTS_H_

#include <cstdint>
#include <span>
#include <vector>

namespace kheya::kernels {

// A matrix [rows, columns], stored column by column; a column is cut into blocks of `block` rows,
// the last one filled up.
struct BlockLayout {
  int64_t columns = 0;
  int64_t rows = 0;
  int64_t block = 0;
  int bits = 4;

  int64_t blocks() const { return (rows + block - 1) / block; }
  int64_t column_bytes() const { return blocks() * (block * bits / 8); }
  int64_t zero_bytes() const { return (blocks() * bits + 7) / 8; }  // of a column
};

// The zero points of all columns and blocks; packed low bits first, each column on bytes of its
// own.
std::vector<float> UnpackZeroPoints(const BlockLayout& layout, std::span<const uint8_t> packed);

// weights[row, column] = (q - zero) * scale with the scale and zero point [columns, blocks] of the
// block that block_of_row names; q packed low bits first.
void UnpackBlocks(const BlockLayout& layout, std::span<const int64_t> block_of_row,
                  std::span<const uint8_t> packed, std::span<const float> scales,
                  std::span<const float> zeros, std::span<float> weights);

// The same for floats of four bits, NF4 or FP4: weights[row, column] = table[q] * scale, where
// element column * rows + row has the scale of its run of `block` elements and is packed high bits
// first.
void UnpackFourBitFloats(const BlockLayout& layout, bool normal, std::span<const uint8_t> packed,
                         std::span<const float> scales, std::span<float> weights);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_PACKED_WEIGHTS_H_
