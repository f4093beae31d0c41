// Inner loops on runs of float32, for the best instruction set of this processor (by Highway).
// Pointers need the alignment of float alone; nothing outside the runs is read or written. Results
// of one machine do not depend on how a run is cut, save where sums say so.
#ifndef KHEYA_KERNELS_PORTABLE_SIMD_H_
#define KHEYA_KERNELS_PORTABLE_SIMD_H_

#include <cstddef>
#include <cstdint>

#include "kernels/call.h"

namespace kheya::simd {

// y[i] = f(x[i]); x may be y. Relative errors, in units of 2^-24, where the result is a normal
// number: Exp below 2, Sigmoid and Silu below 4, Tanh below 7, Erf below 8; a smaller result may be
// 0.
void Unary(const Elementwise& function, const float* x, float* y, size_t count);

// y[i] = a[i * a_step] op b[i * b_step], steps 0 or 1; y may be either.
void Binary(BinaryOp op, const float* a, size_t a_step, const float* b, size_t b_step, float* y,
            size_t count);

// y[i] = x[i] * scale[i * step] + shift[i * step], step 0 or 1; x may be y.
void Affine(const float* x, const float* scale, const float* shift, size_t step, float* y,
            size_t count);

// y[i] += x[i] * w[i * w_step], w_step 0 or 1
void MultiplyAccumulate(const float* x, const float* w, float* y, size_t count, size_t w_step = 1);
// y[i] += x[i]
void Accumulate(const float* x, float* y, size_t count);
// y[i] = the largest of taps[t][i], or their sum times factor.
void MaxOf(const float* const* taps, size_t num_taps, float* y, size_t count);
void ScaledSumOf(const float* const* taps, size_t num_taps, float factor, float* y, size_t count);
// y[i] *= factor
void Scale(float factor, float* y, size_t count);

// y[i] = the sum of rows[t][i] * weights[t], plus what y held where `add`.
void WeightedSum(const float* const* rows, const float* weights, size_t taps, bool add, float* y,
                 size_t count);
// y[i] = x[indices[i]], bit by bit; indices are below `size` and do not fall.
void Gather(const float* x, size_t size, const int32_t* indices, float* y, size_t count);
// y[i] = the sum of x[indices[t * count + i]] * weights[t * count + i]; indices of one t likewise.
void GatheredSum(const float* x, size_t size, const int32_t* indices, const float* weights,
                 size_t taps, float* y, size_t count);
// The first i >= first with !(x[i] <= bound), where `below` !(x[i] >= bound); `count`: none.
size_t FindBeyond(const float* x, size_t first, size_t count, float bound, bool below);

// In a fixed order of addition.
float Sum(const float* x, size_t count);
// y = exp(x - max x) / sum, or its logarithm.
void SoftmaxRow(const float* x, float* y, size_t count, bool log);
// y = (x - mean) / sqrt(variance + epsilon) * scale + bias; bias may be null.
void LayerNormRow(const float* x, const float* scale, const float* bias, float epsilon, float* y,
                  size_t count);

// y = x / sqrt(mean of squares + epsilon) * scale
void RmsNormRow(const float* x, const float* scale, float epsilon, float* y, size_t count);

// y[c][r] = x[r][c] for r < rows, c < columns; rows of x and y are x_pitch and y_pitch apart.
void Transpose(const float* x, size_t x_pitch, float* y, size_t y_pitch, size_t rows,
               size_t columns);

// c[m][n] = a[m][k] b[k][n], rows a_pitch, b_pitch and c_pitch apart; adds to c where `add`.
void Gemm(size_t m, size_t n, size_t k, const float* a, size_t a_pitch, const float* b,
          size_t b_pitch, float* c, size_t c_pitch, bool add);

// Panels as panels.h has them, but the last one has two vectors too.
// x [rows][columns] as panels of `rows` rows, or its transpose as panels of `columns` rows.
void PackPanels(const float* x, size_t x_pitch, size_t rows, size_t columns, float* panels);
void PackTransposedPanels(const float* x, size_t x_pitch, size_t rows, size_t columns,
                          float* panels);
// c[m][n] = a[m][k] b, b as panels, n a multiple of half of PanelColumns().
void PanelGemm(size_t m, size_t n, size_t k, const float* a, size_t a_pitch, const float* panels,
               float* c, size_t c_pitch);

// One query's scores in attention. `scores` is aligned for vectors and may be read and written up
// to the next multiple of PanelColumns().
struct ScoreRow {
  float* scores = nullptr;
  size_t count = 0;    // at least 1
  size_t visible = 0;  // the scores behind these are -inf; at least 1
  float scale = 1;
  const float* mask = nullptr;  // added; null: none
  size_t mask_step = 1;         // 0 or 1
  bool selects = false;         // the mask (step 1) chooses: where it is 0 the score is this one:
  float masked_score = 0;
  bool zero_hidden = false;  // a row of -inf alone becomes 0
  bool zero_nan = false;     // one whose softmax is NaN becomes 0
};
// scores = softmax(scale scores + mask)
void SoftmaxScores(const ScoreRow& row);

// Winograd's F(tile x tile, 3 x 3), tile 2 or 4, on one tile of channels-last memory; channels are
// a multiple of 16. The input's (tile + 2)^2 pixels become as many rows of v, `pitch` apart.
void WinogradInput(int tile, const float* const* pixels, size_t channels, float* v, size_t pitch);
// The rows of products become channels [first, channels) of tile^2 pixels y, plus bias and residual
// (null: none); null pixels are left out. Stops before a run of at most 16 channels with a sum that
// is not finite, and gives the first of them; `channels` where there is none.
size_t WinogradOutput(int tile, const float* products, size_t pitch, const float* bias,
                      const float* const* residual, float* const* y, size_t first, size_t channels);

// y[i] = x[i] / (bias + alpha * sums[i]) ^ beta
void LrnRow(const float* x, const float* sums, float alpha, float beta, float bias, float* y,
            size_t count);

}  // namespace kheya::simd

#endif  // KHEYA_KERNELS_PORTABLE_SIMD_H_
