#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/simd_rows.cpp"
#include <hwy/foreach_target.h>

#include <cmath>

#include "kernels/portable/simd.h"
#include "kernels/portable/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kheya::simd::HWY_NAMESPACE {

// The sum of f(x[i]), in four running sums.
template <typename Body, typename Scalar>
HWY_INLINE float SumOf(const float* x, size_t count, Body body, Scalar scalar) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    for (size_t j = 0; j < 4; ++j) {
      sums[j] = hn::Add(sums[j], body(hn::LoadU(d, x + i + j * lanes)));
    }
  }
  for (; i + lanes <= count; i += lanes) sums[0] = hn::Add(sums[0], body(hn::LoadU(d, x + i)));
  const V all = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  float sum = hn::GetLane(hn::SumOfLanes(d, all));
  for (; i < count; ++i) sum += scalar(x[i]);
  return sum;
}

float SumRun(const float* x, size_t count) {
  return SumOf(
      x, count, [](V v) HWY_ATTR { return v; }, [](float v) { return v; });
}

HWY_INLINE float MaxRun(const float* x, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V best = hn::Set(d, x[0]);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) best = hn::Max(best, hn::LoadU(d, x + i));
  float result = hn::GetLane(hn::MaxOfLanes(d, best));
  for (; i < count; ++i) result = x[i] > result ? x[i] : result;
  return result;
}

void SoftmaxRun(const float* x, float* y, size_t count, bool log) {
  if (count == 0) return;
  const D d;
  const V top = hn::Set(d, MaxRun(x, count));
  if (log) {
    Map(x, y, count, [=](V v) HWY_ATTR { return hn::Sub(v, top); });
    const auto exp = [d](V v) HWY_ATTR { return hn::Exp(d, v); };
    const float sum = SumOf(y, count, exp, [](float v) { return std::exp(v); });
    const V shift = hn::Set(d, std::log(sum));
    Map(y, y, count, [=](V v) HWY_ATTR { return hn::Sub(v, shift); });
    return;
  }
  // Infinite differences must give zero, which Exp promises for large negative numbers only.
  const V least = hn::Set(d, -104.0f);
  Map(x, y, count, [=](V v) HWY_ATTR {
    const V difference = hn::Sub(v, top);
    const V exp = hn::Exp(d, hn::Max(difference, least));
    return hn::IfThenElse(hn::IsNaN(difference), difference,
                          hn::IfThenZeroElse(hn::Lt(difference, least), exp));
  });
  const V factor = hn::Set(d, 1.0f / SumRun(y, count));
  Map(y, y, count, [=](V v) HWY_ATTR { return hn::Mul(v, factor); });
}

void LayerNormRun(const float* x, const float* scale, const float* bias, float epsilon, float* y,
                  size_t count) {
  if (count == 0) return;
  const D d;
  const size_t lanes = hn::Lanes(d);
  const float mean = SumRun(x, count) / static_cast<float>(count);
  const V center = hn::Set(d, mean);
  const float squares = SumOf(
      x, count,
      [=](V v) HWY_ATTR {
        const V difference = hn::Sub(v, center);
        return hn::Mul(difference, difference);
      },
      [=](float v) { return (v - mean) * (v - mean); });
  const float factor = 1.0f / std::sqrt(squares / static_cast<float>(count) + epsilon);
  const V factors = hn::Set(d, factor);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V normal = hn::Mul(hn::Sub(hn::LoadU(d, x + i), center), factors);
    const V shift = bias == nullptr ? hn::Zero(d) : hn::LoadU(d, bias + i);
    hn::StoreU(hn::MulAdd(normal, hn::LoadU(d, scale + i), shift), d, y + i);
  }
  for (; i < count; ++i) {
    y[i] = std::fma((x[i] - mean) * factor, scale[i], bias == nullptr ? 0.0f : bias[i]);
  }
}

void RmsNormRun(const float* x, const float* scale, float epsilon, float* y, size_t count) {
  if (count == 0) return;
  const D d;
  const size_t lanes = hn::Lanes(d);
  const float squares = SumOf(
      x, count, [](V v) HWY_ATTR { return hn::Mul(v, v); }, [](float v) { return v * v; });
  const float factor = 1.0f / std::sqrt(squares / static_cast<float>(count) + epsilon);
  const V factors = hn::Set(d, factor);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V normal = hn::Mul(hn::LoadU(d, x + i), factors);
    hn::StoreU(hn::Mul(normal, hn::LoadU(d, scale + i)), d, y + i);
  }
  for (; i < count; ++i) y[i] = x[i] * factor * scale[i];
}

void LrnRun(const float* x, const float* sums, float alpha, float beta, float bias, float* y,
            size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  const auto power = [=](V base) HWY_ATTR {
    if (beta == 0.75f) {
      const V root = hn::Sqrt(base);
      return hn::Div(hn::Set(d, 1.0f), hn::Mul(root, hn::Sqrt(root)));
    }
    return hn::Exp(d, hn::Mul(hn::Set(d, -beta), hn::Log(d, base)));
  };
  for (; i + lanes <= count; i += lanes) {
    const V base = hn::MulAdd(hn::LoadU(d, sums + i), hn::Set(d, alpha), hn::Set(d, bias));
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), power(base)), d, y + i);
  }
  for (; i < count; ++i) y[i] = x[i] * std::pow(bias + alpha * sums[i], -beta);
}

}  // namespace kheya::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya::simd {

HWY_EXPORT(SumRun);
HWY_EXPORT(SoftmaxRun);
HWY_EXPORT(LayerNormRun);
HWY_EXPORT(RmsNormRun);
HWY_EXPORT(LrnRun);

float Sum(const float* x, size_t count) { return HWY_DYNAMIC_DISPATCH(SumRun)(x, count); }

void SoftmaxRow(const float* x, float* y, size_t count, bool log) {
  HWY_DYNAMIC_DISPATCH(SoftmaxRun)(x, y, count, log);
}

void LayerNormRow(const float* x, const float* scale, const float* bias, float epsilon, float* y,
                  size_t count) {
  HWY_DYNAMIC_DISPATCH(LayerNormRun)(x, scale, bias, epsilon, y, count);
}

void RmsNormRow(const float* x, const float* scale, float epsilon, float* y, size_t count) {
  HWY_DYNAMIC_DISPATCH(RmsNormRun)(x, scale, epsilon, y, count);
}

void LrnRow(const float* x, const float* sums, float alpha, float beta, float bias, float* y,
            size_t count) {
  HWY_DYNAMIC_DISPATCH(LrnRun)(x, sums, alpha, beta, bias, y, count);
}

}  // namespace kheya::simd
#endif
