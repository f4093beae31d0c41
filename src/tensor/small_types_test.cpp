#include "tensor/small_types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kheya {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const DType kFloats[] = {DType::kFloat8E4M3FN,   DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2,
                         DType::kFloat8E5M2FNUZ, DType::kFloat6E2M3,     DType::kFloat6E3M2,
                         DType::kFloat4E2M1};

int CodesOf(DType dtype) { return 1 << GetDTypeInfo(dtype).bits; }

TEST(SmallFloats, KeyCodes) {
  EXPECT_EQ(SmallToDouble(DType::kFloat8E4M3FN, 0x7e), 448);
  EXPECT_EQ(SmallToDouble(DType::kFloat8E4M3FN, 0x01), std::ldexp(1, -9));
  EXPECT_EQ(SmallToDouble(DType::kFloat8E4M3FN, 0xb8), -1);
  EXPECT_TRUE(std::isnan(SmallToDouble(DType::kFloat8E4M3FN, 0xff)));
  EXPECT_EQ(SmallToDouble(DType::kFloat8E4M3FNUZ, 0x7f), 240);
  EXPECT_TRUE(std::isnan(SmallToDouble(DType::kFloat8E4M3FNUZ, 0x80)));
  EXPECT_EQ(SmallToDouble(DType::kFloat8E5M2, 0x7b), 57344);
  EXPECT_EQ(SmallToDouble(DType::kFloat8E5M2, 0xfc), -kInf);
  EXPECT_TRUE(std::isnan(SmallToDouble(DType::kFloat8E5M2, 0x7d)));
  EXPECT_EQ(SmallToDouble(DType::kFloat8E5M2FNUZ, 0x7f), 57344);
  EXPECT_EQ(SmallToDouble(DType::kFloat8E5M2FNUZ, 0x01), std::ldexp(1, -17));
  EXPECT_EQ(SmallToDouble(DType::kFloat8E8M0, 0), std::ldexp(1, -127));
  EXPECT_EQ(SmallToDouble(DType::kFloat8E8M0, 127), 1);
  EXPECT_TRUE(std::isnan(SmallToDouble(DType::kFloat8E8M0, 255)));
  EXPECT_EQ(SmallToDouble(DType::kFloat6E2M3, 0x1f), 7.5);
  EXPECT_EQ(SmallToDouble(DType::kFloat6E2M3, 0x21), -0.125);
  EXPECT_EQ(SmallToDouble(DType::kFloat6E3M2, 0x1f), 28);
  EXPECT_EQ(SmallToDouble(DType::kFloat6E3M2, 0x01), 0.0625);
  const std::vector<double> fours = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (uint8_t code = 0; code < 8; ++code) {
    EXPECT_EQ(SmallToDouble(DType::kFloat4E2M1, code), fours[code]);
    EXPECT_EQ(SmallToDouble(DType::kFloat4E2M1, code | 8), -fours[code]);
  }
}

TEST(SmallFloats, EveryCodeComesBack) {
  for (DType dtype : kFloats) {
    for (int code = 0; code < CodesOf(dtype); ++code) {
      const double value = SmallToDouble(dtype, static_cast<uint8_t>(code));
      const uint8_t again = DoubleToSmall(dtype, value, {false, SmallRounding::kNearest});
      const double back = SmallToDouble(dtype, again);
      EXPECT_TRUE(back == value || (std::isnan(back) && std::isnan(value)))
          << DTypeName(dtype) << " " << code;
      EXPECT_TRUE(std::isnan(value) || again == code) << DTypeName(dtype) << " " << code;
    }
  }
  for (int code = 0; code < 255; ++code) {
    const double value = SmallToDouble(DType::kFloat8E8M0, static_cast<uint8_t>(code));
    for (SmallRounding rounding :
         {SmallRounding::kUp, SmallRounding::kDown, SmallRounding::kNearest}) {
      EXPECT_EQ(DoubleToSmall(DType::kFloat8E8M0, value, {true, rounding}), code);
    }
  }
}

// Between neighbours the nearer one is taken, and the even code in the middle.
TEST(SmallFloats, RoundToNearestEven) {
  for (DType dtype : kFloats) {
    for (int code = 0; code + 1 < CodesOf(dtype) / 2; ++code) {
      const double low = SmallToDouble(dtype, static_cast<uint8_t>(code));
      const double high = SmallToDouble(dtype, static_cast<uint8_t>(code + 1));
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const SmallOptions options;
      const double middle = (low + high) / 2;
      const double step = (high - low) / 1024;
      EXPECT_EQ(DoubleToSmall(dtype, middle, options), code % 2 == 0 ? code : code + 1);
      EXPECT_EQ(DoubleToSmall(dtype, middle - step, options), code);
      EXPECT_EQ(DoubleToSmall(dtype, middle + step, options), code + 1);
    }
  }
}

TEST(SmallFloats, BeyondTheLargest) {
  const SmallOptions saturate;
  const SmallOptions not_saturate = {false, SmallRounding::kUp};
  struct Row {
    DType dtype;
    double last;  // the largest number that rounds to the largest
    uint8_t largest;
    uint8_t beyond;
  };
  for (const Row& row :
       {Row{DType::kFloat8E4M3FN, 464, 0x7e, 0x7f}, Row{DType::kFloat8E4M3FNUZ, 247.9, 0x7f, 0x80},
        Row{DType::kFloat8E5M2, 61439, 0x7b, 0x7c},
        Row{DType::kFloat8E5M2FNUZ, 61439, 0x7f, 0x80}}) {
    EXPECT_EQ(DoubleToSmall(row.dtype, row.last, not_saturate), row.largest);
    for (double value : {row.last * 1.01, 1e30, kInf}) {
      EXPECT_EQ(DoubleToSmall(row.dtype, value, saturate), row.largest) << value;
      EXPECT_EQ(DoubleToSmall(row.dtype, value, not_saturate), row.beyond) << value;
    }
    EXPECT_TRUE(std::isnan(SmallToDouble(row.dtype, DoubleToSmall(row.dtype, kNaN, saturate))));
  }
  EXPECT_EQ(DoubleToSmall(DType::kFloat8E5M2, -kInf, not_saturate), 0xfc);
  EXPECT_EQ(DoubleToSmall(DType::kFloat4E2M1, -100, not_saturate), 0xf);
  EXPECT_EQ(DoubleToSmall(DType::kFloat4E2M1, kNaN, saturate), 0x8);
}

TEST(SmallFloats, SignsOfZero) {
  const SmallOptions options;
  EXPECT_EQ(DoubleToSmall(DType::kFloat8E4M3FN, -0.0, options), 0x80);
  EXPECT_EQ(DoubleToSmall(DType::kFloat8E4M3FNUZ, -0.0, options), 0);
  EXPECT_EQ(DoubleToSmall(DType::kFloat8E5M2FNUZ, -1e-30, options), 0);
}

TEST(SmallFloats, PowersOfTwoRoundAsAsked) {
  const auto code = [](double value, bool saturate, SmallRounding rounding) {
    return static_cast<int>(DoubleToSmall(DType::kFloat8E8M0, value, {saturate, rounding}));
  };
  EXPECT_EQ(code(1.25, true, SmallRounding::kUp), 128);
  EXPECT_EQ(code(1.25, true, SmallRounding::kDown), 127);
  EXPECT_EQ(code(1.25, true, SmallRounding::kNearest), 127);
  EXPECT_EQ(code(1.75, true, SmallRounding::kNearest), 128);
  EXPECT_EQ(code(1.5, true, SmallRounding::kNearest), 128);
  EXPECT_EQ(code(3.0, true, SmallRounding::kNearest), 128);
  EXPECT_EQ(code(0, true, SmallRounding::kUp), 0);
  EXPECT_EQ(code(0, false, SmallRounding::kUp), 255);
  EXPECT_EQ(code(-1, true, SmallRounding::kUp), 255);
  EXPECT_EQ(code(kInf, true, SmallRounding::kUp), 254);
  EXPECT_EQ(code(kInf, false, SmallRounding::kUp), 255);
  EXPECT_EQ(code(1.5 * std::ldexp(1, 127), true, SmallRounding::kUp), 254);
  EXPECT_EQ(code(kNaN, true, SmallRounding::kUp), 255);
}

TEST(SmallIntegers, LowBitsInTwosComplement) {
  for (DType dtype : {DType::kInt4, DType::kUint4, DType::kInt2, DType::kUint2}) {
    for (int64_t value = SmallLowest(dtype); value <= SmallHighest(dtype); ++value) {
      EXPECT_EQ(SmallToDouble(dtype, IntegerToSmall(dtype, value)), static_cast<double>(value));
    }
    EXPECT_EQ(IntegerToSmall(dtype, SmallHighest(dtype) + 1),
              IntegerToSmall(dtype, SmallLowest(dtype)));
  }
}

TEST(SmallTypes, ShareBytesLowBitsFirst) {
  uint8_t bytes[2] = {0, 0};
  for (int i = 0; i < 4; ++i) SetCode(DType::kUint4, bytes, i, static_cast<uint8_t>(i + 1));
  EXPECT_EQ(bytes[0], 0x21);
  EXPECT_EQ(bytes[1], 0x43);
  EXPECT_EQ(CodeAt(DType::kUint4, bytes, 2), 3);
  SetCode(DType::kUint2, bytes, 1, 3);
  EXPECT_EQ(bytes[0], 0x2d);
  EXPECT_EQ(CodeAt(DType::kUint2, bytes, 2), 2);
  SetCode(DType::kFloat8E5M2, bytes, 1, 0xff);
  EXPECT_EQ(bytes[1], 0xff);
}

TEST(SmallTypes, SixBitsLieAcrossBytes) {
  uint8_t bytes[4] = {0xff, 0xff, 0xff, 0xff};
  const uint8_t codes[] = {0x04, 0x28, 0x1f, 0x00, 0x10};
  for (int i = 4; i >= 0; --i) SetCode(DType::kFloat6E2M3, bytes, i, codes[i]);
  EXPECT_EQ(bytes[0], 0x04);
  EXPECT_EQ(bytes[1], 0xfa);
  EXPECT_EQ(bytes[2], 0x01);
  EXPECT_EQ(bytes[3], 0xd0);  // its two high bits belong to the next
  for (int i = 0; i < 5; ++i) EXPECT_EQ(CodeAt(DType::kFloat6E2M3, bytes, i), codes[i]);
}

}  // namespace
}  // namespace kheya
