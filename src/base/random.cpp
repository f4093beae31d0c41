#include "base/random.h"

#include <atomic>
#include <chrono>
#include <random>

namespace kheya {
namespace {

uint64_t StartOfSeeds() {
  uint64_t start =
      static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  try {
    std::random_device device;
    start ^= (uint64_t{device()} << 32) ^ device();
  } catch (const std::exception&) {  // no source of entropy: the clock has to do
  }
  return start;
}

}  // namespace

uint64_t FreshSeed() {
  static std::atomic<uint64_t> next{StartOfSeeds()};
  return Random(next.fetch_add(1)).Next();
}

}  // namespace kheya
