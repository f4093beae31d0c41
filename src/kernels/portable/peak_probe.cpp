#include "kernels/peak_probe.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/peak_probe.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kheya {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Ten independent chains hide the latency of a multiply-add on every processor of today. Returns
// the operations done; `sink` keeps the compiler from leaving the work out.
double MultiplyAdd(int64_t rounds, float* sink) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, 0.999f), b = hn::Set(d, 0.001f);
  auto s0 = hn::Set(d, 0.1f), s1 = hn::Set(d, 0.2f), s2 = hn::Set(d, 0.3f), s3 = hn::Set(d, 0.4f);
  auto s4 = hn::Set(d, 0.5f), s5 = hn::Set(d, 0.6f), s6 = hn::Set(d, 0.7f), s7 = hn::Set(d, 0.8f);
  auto s8 = hn::Set(d, 0.9f), s9 = hn::Set(d, 1.1f);
  for (int64_t i = 0; i < rounds; ++i) {
    s0 = hn::MulAdd(s0, a, b);
    s1 = hn::MulAdd(s1, a, b);
    s2 = hn::MulAdd(s2, a, b);
    s3 = hn::MulAdd(s3, a, b);
    s4 = hn::MulAdd(s4, a, b);
    s5 = hn::MulAdd(s5, a, b);
    s6 = hn::MulAdd(s6, a, b);
    s7 = hn::MulAdd(s7, a, b);
    s8 = hn::MulAdd(s8, a, b);
    s9 = hn::MulAdd(s9, a, b);
  }
  auto sum = hn::Add(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), hn::Add(s4, s5));
  sum = hn::Add(sum, hn::Add(hn::Add(s6, s7), hn::Add(s8, s9)));
  *sink = hn::GetLane(hn::SumOfLanes(d, sum));
  return 10.0 * 2.0 * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

}  // namespace HWY_NAMESPACE
}  // namespace kheya
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya {

HWY_EXPORT(MultiplyAdd);

namespace {

double Measure() {
  constexpr int kRepeats = 20;
  constexpr int64_t kRounds = 1000000;
  double best = 0;
  volatile float sink = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    float sum = 0;
    const auto start = std::chrono::steady_clock::now();
    const double operations = HWY_DYNAMIC_DISPATCH(MultiplyAdd)(kRounds, &sum);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    sink = sink + sum;
    best = std::max(best, operations / seconds.count() / 1e9);
  }
  return best;
}

}  // namespace

double ProbePeakGflops() {
  static const double peak = Measure();
  return peak;
}

}  // namespace kheya
#endif  // HWY_ONCE
