// The small parts of the room: status, checked arithmetic, hashes, text, random numbers, processor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/checked_math.h"
#include "base/cpu_features.h"
#include "base/function_ref.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/status.h"
#include "base/string_util.h"

namespace kheya {
namespace {

using ::testing::ElementsAre;

TEST(StatusTest, CarriesContextAndHint) {
  Status status = NotFoundError("found {}, expected {}", 3, "four\n");
  status = std::move(status).WithContext("node '{}'", "conv1").WithHint("try five");
  EXPECT_EQ(status.ToString(), "NOT_FOUND: node 'conv1': found 3, expected four\\x0a");
  EXPECT_EQ(status.hint(), "try five");
  const Status copy = status;
  EXPECT_EQ(copy.message(), status.message());
  EXPECT_EQ(OkStatus().WithContext("x").ToString(), "OK");
  EXPECT_EQ(GetStatusCodeInfo(StatusCode::kNotFound).http_status, 404);
  EXPECT_EQ(GetStatusCodeInfo(static_cast<StatusCode>(99)).code, StatusCode::kUnknown);
}

TEST(StatusTest, ResultsReturnEarly) {
  const auto half = [](int n) -> Result<int> {
    if (n % 2 != 0) return InvalidArgumentError("found odd {}", n);
    return n / 2;
  };
  const auto quarter = [&](int n) -> Result<int> {
    KHEYA_ASSIGN_OR_RETURN(const int h, half(n));
    return half(h);
  };
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).status().message(), "found odd 3");
  EXPECT_EQ(Result<int>(OkStatus()).status().code(), StatusCode::kInternal);
}

TEST(CheckedMathTest, SeesOverflow) {
  int64_t out = 0;
  EXPECT_TRUE(CheckedMul(int64_t{1} << 31, int64_t{1} << 31, &out));
  EXPECT_FALSE(CheckedMul(int64_t{1} << 32, int64_t{1} << 31, &out));
  EXPECT_FALSE(CheckedAdd(std::numeric_limits<int64_t>::max(), int64_t{1}, &out));
  EXPECT_FALSE(CheckedSub(uint64_t{1}, uint64_t{2}, std::make_unique<uint64_t>().get()));
}

TEST(FunctionRefTest, CallsWhatItBorrows) {
  int total = 0;
  auto add = [&total](int n) { return total += n; };
  const FunctionRef<int(int)> ref = add;
  EXPECT_EQ(ref(2), 2);
  EXPECT_EQ(ref(3), 5);
}

TEST(HashTest, IsTheXxh3OfTheBytes) {
  EXPECT_EQ(HashString("").ToHex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(HashString("a").ToHex(), "a96faf705af16834e6c632b61e964e1f");
  EXPECT_NE(HashString("ab"), HashString("ba"));
}

TEST(StringUtilTest, SplitsJoinsAndTrims) {
  EXPECT_THAT(Split("a,,b", ','), ElementsAre("a", "", "b"));
  EXPECT_THAT(Split("", ','), ElementsAre(""));
  EXPECT_THAT(SplitWords("  a \t b\n"), ElementsAre("a", "b"));
  EXPECT_TRUE(SplitWords(" ").empty());
  EXPECT_EQ(Join({"a", "b"}, ", "), "a, b");
  EXPECT_EQ(Join({}, ", "), "");
  EXPECT_EQ(Trim(" a b \n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
  EXPECT_EQ(ToLower("AbÉ"), "abÉ");
  EXPECT_TRUE(EqualsIgnoreCase("Content-Type", "content-TYPE"));
  EXPECT_FALSE(EqualsIgnoreCase("a", "ab"));
}

TEST(StringUtilTest, ParsesWholeNumbersOnly) {
  EXPECT_EQ(*ParseInt64("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(*ParseInt64("+5"), 5);
  EXPECT_EQ(ParseInt64("9223372036854775808").status().code(), StatusCode::kOutOfRange);
  for (const char* bad : {"", "+", "-", "+-1", "1 ", " 1", "1x", "0x10", "1.0"}) {
    EXPECT_EQ(ParseInt64(bad).status().code(), StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_EQ(*ParseUint64("18446744073709551615"), std::numeric_limits<uint64_t>::max());
  EXPECT_FALSE(ParseUint64("-1").ok());
  EXPECT_EQ(*ParseDouble("1e-3"), 1e-3);
  EXPECT_TRUE(std::isinf(*ParseDouble("inf")));
  EXPECT_FALSE(ParseDouble("1,5").ok());
}

TEST(StringUtilTest, ShortensBetweenCharacters) {
  EXPECT_EQ(Abbreviate("short"), "short");
  EXPECT_EQ(Abbreviate("ab\xC3\xA9z", 3), "ab...");
  EXPECT_EQ(Abbreviate("ab\xC3\xA9z", 4), "ab\xC3\xA9...");
  EXPECT_EQ(Abbreviate("\x80\x80\x80", 2), "...");
  EXPECT_EQ(EscapeControls("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(EscapeControls("খেয়া"), "খেয়া");
  EXPECT_EQ(EscapeControls("খ\xff\xC0\xAF\nয়\xE2\x82"), "খ\\xff\\xc0\\xaf\\x0aয়\\xe2\\x82");
  EXPECT_TRUE(IsValidUtf8(InvalidArgumentError("found '{}'", "\xff").message()));
  EXPECT_TRUE(IsValidUtf8("খেয়া"));
  EXPECT_FALSE(IsValidUtf8("\xC0\x80"));
  EXPECT_FALSE(IsValidUtf8("\xED\xA0\x80"));
}

TEST(RandomTest, GivesTheSameNumbersEverywhere) {
  Random random(0);
  EXPECT_EQ(random.Next(), 0xE220A8397B1DCDAFu);  // the published sequence of seed 0
  EXPECT_EQ(random.Next(), 0x6E789E6AA1B965F4u);
}

TEST(RandomTest, FillsItsRanges) {
  Random random(7);
  double sum = 0;
  double squares = 0;
  constexpr int kCount = 20000;
  for (int i = 0; i < kCount; ++i) {
    const double u = random.Uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
    ASSERT_LT(random.UniformInt(3), 3u);
    const float r = random.Uniform(-2.0f, 5.0f);
    ASSERT_TRUE(r >= -2.0f && r <= 5.0f);
    const double n = random.Normal();
    sum += n;
    squares += n * n;
  }
  EXPECT_NEAR(sum / kCount, 0.0, 0.03);
  EXPECT_NEAR(squares / kCount, 1.0, 0.04);
}

TEST(CpuFeaturesTest, AgreesWithTheCompilersOwnTest) {
  const CpuFeatures& cpu = GetCpuFeatures();
#if defined(__x86_64__)
  EXPECT_EQ(cpu.architecture, "x86-64");
  EXPECT_EQ(cpu.sse4_2, __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ(cpu.avx2, __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(cpu.fma, __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(cpu.avx512f, __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(cpu.avx512bw, __builtin_cpu_supports("avx512bw") != 0);
  EXPECT_EQ(cpu.avx512_vnni, __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(cpu.avx512_bf16, __builtin_cpu_supports("avx512bf16") != 0);
#elif defined(__aarch64__)
  EXPECT_TRUE(cpu.neon);
#endif
  CpuFeatures made;
  made.architecture = "x86-64";
  made.avx = made.fma = true;
  EXPECT_EQ(made.Key(), "x86-64+avx+fma");
}

}  // namespace
}  // namespace kheya
