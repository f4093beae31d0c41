// The errors that simd.h states, for every instruction set that this processor has.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/portable/simd.h"

namespace kheya {
namespace {

struct Function {
  const char* name;
  ElementwiseOp op;
  double (*exact)(double);
  float low, high;  // where the exact result is a normal number
  double error;     // relative, in 2^-24
};

constexpr Function kFunctions[] = {
    {"Exp", ElementwiseOp::kExp, [](double x) { return std::exp(x); }, -87.3f, 88.7f, 2},
    {"Sigmoid", ElementwiseOp::kSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -87.3f,
     100, 4},
    {"Silu", ElementwiseOp::kSilu, [](double x) { return x / (1 + std::exp(-x)); }, -87.3f, 100, 4},
    {"Tanh", ElementwiseOp::kTanh, [](double x) { return std::tanh(x); }, -20, 20, 7},
    {"Erf", ElementwiseOp::kErf, [](double x) { return std::erf(x); }, -6, 6, 8},
};

std::vector<float> Results(ElementwiseOp op, std::vector<float> x) {
  simd::Unary({op, 1.0f, 0.0f}, x.data(), x.data(), x.size());
  return x;
}

class SimdMathTest : public testing::TestWithParam<int64_t> {
 protected:
  SimdMathTest() { Choose(GetParam()); }
  ~SimdMathTest() override { Choose(0); }

  static void Choose(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
  }
};

TEST_P(SimdMathTest, ErrorsAreAsStated) {
  for (const Function& f : kFunctions) {
    std::vector<float> x;
    const int steps = 200'003;
    for (int i = 0; i <= steps; ++i) {
      x.push_back(f.low + (f.high - f.low) * static_cast<float>(i) / steps);
      // As many of each power of two near 0.
      const float small = std::ldexp(1 + static_cast<float>(i % 997) / 997, -(i % 100));
      x.push_back(i % 2 != 0 ? small : -small);
    }
    const std::vector<float> y = Results(f.op, x);
    double worst = 0;
    float at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double exact = f.exact(x[i]);
      const double error = std::abs(y[i] - exact) / std::abs(exact);
      if (!(error <= worst)) worst = error, at = x[i];
    }
    EXPECT_LE(std::ldexp(worst, 24), f.error) << f.name << " of " << at;
  }
}

TEST_P(SimdMathTest, Ends) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {-kInfinity, -1e30f, -200, 200, 1e30f, kInfinity};
  EXPECT_EQ(Results(ElementwiseOp::kExp, x),
            (std::vector<float>{0, 0, 0, kInfinity, kInfinity, kInfinity}));
  EXPECT_EQ(Results(ElementwiseOp::kSigmoid, x), (std::vector<float>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(Results(ElementwiseOp::kTanh, x), (std::vector<float>{-1, -1, -1, 1, 1, 1}));
  EXPECT_EQ(Results(ElementwiseOp::kErf, x), (std::vector<float>{-1, -1, -1, 1, 1, 1}));
}

TEST_P(SimdMathTest, NanStaysNan) {
  for (int op = 0; op <= static_cast<int>(ElementwiseOp::kCeil); ++op) {
    if (op == static_cast<int>(ElementwiseOp::kIdentity)) continue;
    const auto y = Results(static_cast<ElementwiseOp>(op), std::vector<float>(19, std::nanf("")));
    EXPECT_TRUE(std::ranges::all_of(y, [](float v) { return std::isnan(v); }))
        << "function " << op << " gave " << y[0];
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SimdMathTest,
                         testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& info) { return std::string(hwy::TargetName(info.param)); });

}  // namespace
}  // namespace kheya
