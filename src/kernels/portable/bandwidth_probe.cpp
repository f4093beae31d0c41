#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/allocator.h"
#include "kernels/peak_probe.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/portable/bandwidth_probe.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kheya {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// `count` is a multiple of four vectors.
float ReadAll(const float* from, size_t count) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
  for (size_t i = 0; i < count; i += 4 * lanes) {
    s0 = hn::Add(s0, hn::Load(d, from + i));
    s1 = hn::Add(s1, hn::Load(d, from + i + lanes));
    s2 = hn::Add(s2, hn::Load(d, from + i + 2 * lanes));
    s3 = hn::Add(s3, hn::Load(d, from + i + 3 * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

void CopyAll(const float* from, float* to, size_t count) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t i = 0; i < count; i += 4 * lanes) {
    hn::Store(hn::Load(d, from + i), d, to + i);
    hn::Store(hn::Load(d, from + i + lanes), d, to + i + lanes);
    hn::Store(hn::Load(d, from + i + 2 * lanes), d, to + i + 2 * lanes);
    hn::Store(hn::Load(d, from + i + 3 * lanes), d, to + i + 3 * lanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kheya
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kheya {

HWY_EXPORT(ReadAll);
HWY_EXPORT(CopyAll);

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kLeastBytes = uint64_t{1} << 14;
constexpr uint64_t kMostBytes = uint64_t{1} << 28;

// The least seconds of one of several rounds of `body`, each of `times` calls.
template <typename Body>
double LeastSeconds(int rounds, int64_t times, const Body& body) {
  double least = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    for (int64_t i = 0; i < times; ++i) body();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (round == 0 || seconds < least) least = seconds;
  }
  return least / static_cast<double>(times);
}

double Measure(uint64_t bytes) {
  constexpr int kRounds = 5;
  constexpr uint64_t kBytesPerRound = uint64_t{1} << 24;
  Result<Buffer> buffer = Buffer::Allocate(bytes);
  if (!buffer.ok()) return 0;
  auto* values = reinterpret_cast<float*>(buffer->data());
  const size_t count = bytes / sizeof(float);
  std::fill(values, values + count, 1.0f);
  const auto times = static_cast<int64_t>(std::max<uint64_t>(1, kBytesPerRound / bytes));
  volatile float sink = 0;
  const double read = LeastSeconds(
      kRounds, times, [&] { sink = sink + HWY_DYNAMIC_DISPATCH(ReadAll)(values, count); });
  const double copy = LeastSeconds(kRounds, times, [&] {
    HWY_DYNAMIC_DISPATCH(CopyAll)(values, values + count / 2, count / 2);
    sink = sink + values[count / 2];
  });
  return static_cast<double>(bytes) / std::min(read, copy) / 1e9;
}

}  // namespace

double ProbeBandwidth(uint64_t bytes) {
  static std::mutex mutex;
  static std::map<uint64_t, double> known;
  const uint64_t size = std::bit_ceil(std::clamp(bytes, kLeastBytes, kMostBytes));
  std::lock_guard lock(mutex);
  const auto [place, added] = known.try_emplace(size, 0);
  if (added) place->second = Measure(size);
  return place->second;
}

}  // namespace kheya
#endif  // HWY_ONCE
