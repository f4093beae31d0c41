// A small random generator (SplitMix64) with the same numbers on every machine: for weights in
// tests, random inputs and shuffles. Not for secrets. Thread safety: none, one for each thread.
#ifndef KHEYA_BASE_RANDOM_H_
#define KHEYA_BASE_RANDOM_H_

#include <cmath>
#include <cstdint>
#include <numbers>

namespace kheya {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014.
  uint64_t Next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // In [0, 1), one of 2^53 values.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  // In [low, high); `high` itself can come out where float rounding reaches it.
  float Uniform(float low, float high) {
    return low + static_cast<float>(Uniform()) * (high - low);
  }
  // In [0, count); count at least 1. The bias is below count / 2^64.
  uint64_t UniformInt(uint64_t count) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * count) >> 64);
  }
  // Mean 0, deviation 1 (Box and Muller).
  float Normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
    return static_cast<float>(radius * std::cos(2.0 * std::numbers::pi * Uniform()));
  }

 private:
  uint64_t state_;
};

// A seed that differs at every call, from the system's entropy. Thread-safe.
uint64_t FreshSeed();

}  // namespace kheya

#endif  // KHEYA_BASE_RANDOM_H_
