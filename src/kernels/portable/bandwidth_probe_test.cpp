#include <gtest/gtest.h>

#include <limits>

#include "kernels/peak_probe.h"

namespace kheya {
namespace {

TEST(BandwidthProbeTest, MeasuresOncePerPowerOfTwo) {
  const double small = ProbeBandwidth(20000);
  EXPECT_GT(small, 0);
  EXPECT_EQ(ProbeBandwidth(32768), small);
  EXPECT_NE(ProbeBandwidth(32769), small);
}

TEST(BandwidthProbeTest, SizesAreBounded) {
  EXPECT_EQ(ProbeBandwidth(0), ProbeBandwidth(1 << 14));
  EXPECT_EQ(ProbeBandwidth(std::numeric_limits<uint64_t>::max()), ProbeBandwidth(1 << 28));
}

}  // namespace
}  // namespace kheya
