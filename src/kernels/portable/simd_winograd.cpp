#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/simd_winograd.cpp"
#include <hwy/foreach_target.h>

#include "kernels/portable/simd.h"
#include "kernels/portable/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

// y = B^T x and y = A^T x of F(2, 3) and F(4, 3), with the points 0, 1, -1 (2, -2) and infinity
// (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks"). Steps are in vectors.
template <int kTile>
struct Transforms;

template <>
struct Transforms<2> {
  static HWY_INLINE void Input(const V* x, int step, V* y, int y_step) {
    const V x1 = x[step], x2 = x[2 * step];
    y[0] = hn::Sub(x[0], x2);
    y[y_step] = hn::Add(x1, x2);
    y[2 * y_step] = hn::Sub(x2, x1);
    y[3 * y_step] = hn::Sub(x1, x[3 * step]);
  }
  static HWY_INLINE void Output(const V* x, int step, V* y, int y_step) {
    const V x1 = x[step], x2 = x[2 * step];
    y[0] = hn::Add(x[0], hn::Add(x1, x2));
    y[y_step] = hn::Sub(hn::Sub(x1, x2), x[3 * step]);
  }
};

template <>
struct Transforms<4> {
  static HWY_INLINE void Input(const V* x, int step, V* y, int y_step) {
    const D d;
    const V two = hn::Set(d, 2.0f), four = hn::Set(d, 4.0f), five = hn::Set(d, 5.0f);
    const V x1 = x[step], x2 = x[2 * step], x3 = x[3 * step], x4 = x[4 * step];
    const V even = hn::NegMulAdd(four, x2, x4), odd = hn::NegMulAdd(four, x1, x3);
    const V near = hn::Sub(x4, x2), far = hn::Mul(two, hn::Sub(x3, x1));
    y[0] = hn::MulAdd(four, x[0], hn::NegMulAdd(five, x2, x4));
    y[y_step] = hn::Add(even, odd);
    y[2 * y_step] = hn::Sub(even, odd);
    y[3 * y_step] = hn::Add(near, far);
    y[4 * y_step] = hn::Sub(near, far);
    y[5 * y_step] = hn::MulAdd(four, x1, hn::NegMulAdd(five, x3, x[5 * step]));
  }
  static HWY_INLINE void Output(const V* x, int step, V* y, int y_step) {
    const D d;
    const V two = hn::Set(d, 2.0f), four = hn::Set(d, 4.0f), eight = hn::Set(d, 8.0f);
    const V x1 = x[step], x2 = x[2 * step], x3 = x[3 * step], x4 = x[4 * step];
    const V sum1 = hn::Add(x1, x2), sum2 = hn::Add(x3, x4);
    const V difference1 = hn::Sub(x1, x2), difference2 = hn::Sub(x3, x4);
    y[0] = hn::Add(x[0], hn::Add(sum1, sum2));
    y[y_step] = hn::MulAdd(two, difference2, difference1);
    y[2 * y_step] = hn::MulAdd(four, sum2, sum1);
    y[3 * y_step] = hn::Add(hn::MulAdd(eight, difference2, difference1), x[5 * step]);
  }
};

template <int kTile>
HWY_INLINE void InputTile(const float* const* pixels, size_t channels, float* v, size_t pitch) {
  constexpr int kSize = kTile + 2;
  const D d;
  for (size_t c = 0; c < channels; c += hn::Lanes(d)) {
    V columns[kSize * kSize];
    for (int j = 0; j < kSize; ++j) {
      V x[kSize];
      for (int i = 0; i < kSize; ++i) x[i] = hn::LoadU(d, pixels[i * kSize + j] + c);
      Transforms<kTile>::Input(x, 1, columns + j, kSize);
    }
    for (int i = 0; i < kSize; ++i) {
      V y[kSize];
      Transforms<kTile>::Input(columns + i * kSize, 1, y, 1);
      for (int j = 0; j < kSize; ++j) hn::StoreU(y[j], d, v + (i * kSize + j) * pitch + c);
    }
  }
}

void InputRun(int tile, const float* const* pixels, size_t channels, float* v, size_t pitch) {
  if (tile == 4) return InputTile<4>(pixels, channels, v, pitch);
  InputTile<2>(pixels, channels, v, pitch);
}

template <int kTile>
HWY_INLINE size_t OutputTile(const float* products, size_t pitch, const float* bias,
                             const float* const* residual, float* const* y, size_t first,
                             size_t channels) {
  constexpr int kSize = kTile + 2;
  const D d;
  for (size_t c = first; c < channels; c += hn::Lanes(d)) {
    V columns[kTile * kSize];
    for (int j = 0; j < kSize; ++j) {
      V x[kSize];
      for (int i = 0; i < kSize; ++i) x[i] = hn::LoadU(d, products + (i * kSize + j) * pitch + c);
      Transforms<kTile>::Output(x, 1, columns + j, kSize);
    }
    V pixels[kTile * kTile];
    V check = hn::Zero(d);  // stays 0 while all is finite
    for (int i = 0; i < kTile; ++i) {
      Transforms<kTile>::Output(columns + i * kSize, 1, pixels + i * kTile, 1);
      for (int j = 0; j < kTile; ++j) {
        check = hn::MulAdd(pixels[i * kTile + j], hn::Zero(d), check);
      }
    }
    if (!hn::AllTrue(d, hn::Eq(check, hn::Zero(d)))) return c;
    const V shift = bias != nullptr ? hn::LoadU(d, bias + c) : hn::Zero(d);
    for (int i = 0; i < kTile * kTile; ++i) {
      if (y[i] == nullptr) continue;
      V value = hn::Add(pixels[i], shift);
      if (residual != nullptr) value = hn::Add(value, hn::LoadU(d, residual[i] + c));
      hn::StoreU(value, d, y[i] + c);
    }
  }
  return channels;
}

size_t OutputRun(int tile, const float* products, size_t pitch, const float* bias,
                 const float* const* residual, float* const* y, size_t first, size_t channels) {
  if (tile == 4) return OutputTile<4>(products, pitch, bias, residual, y, first, channels);
  return OutputTile<2>(products, pitch, bias, residual, y, first, channels);
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya::simd {

HWY_EXPORT(InputRun);
HWY_EXPORT(OutputRun);

void WinogradInput(int tile, const float* const* pixels, size_t channels, float* v, size_t pitch) {
  HWY_DYNAMIC_DISPATCH(InputRun)(tile, pixels, channels, v, pitch);
}

size_t WinogradOutput(int tile, const float* products, size_t pitch, const float* bias,
                      const float* const* residual, float* const* y, size_t first,
                      size_t channels) {
  return HWY_DYNAMIC_DISPATCH(OutputRun)(tile, products, pitch, bias, residual, y, first, channels);
}

}  // namespace kheya::simd
#endif
