#include "tensor/dim.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace kheya {
namespace {

const Dim n = Dim::Symbol("N");
const Dim h = Dim::Symbol("H");

TEST(Dim, EqualPolynomialsAreEqual) {
  EXPECT_EQ((n + 1) * 2, n * 2 + 2);
  EXPECT_EQ(n * h + h, h * (n + 1));
  EXPECT_EQ(n - n, Dim(0));
  EXPECT_EQ((n + h) * (n - h), n * n - h * h);
  EXPECT_FALSE(n == h);
  EXPECT_FALSE(n == Dim(1));
}

TEST(Dim, UnknownEqualsNothingButHasAForm) {
  EXPECT_FALSE(Dim() == Dim());
  EXPECT_TRUE(Dim().SameAs(Dim::Unknown()));
  EXPECT_FALSE(Dim().SameAs(n));
  EXPECT_TRUE((Dim() + 1).unknown());
  EXPECT_TRUE((n * Dim()).unknown());
  EXPECT_EQ(Dim() * 0, Dim(0));
  EXPECT_EQ(Dim(0) * Dim(), Dim(0));
}

TEST(Dim, SymbolIsExactlyOne) {
  EXPECT_EQ(n.symbol(), "N");
  EXPECT_FALSE((n + 1).symbol());
  EXPECT_FALSE((n * 2).symbol());
  EXPECT_FALSE(Dim(3).symbol());
  EXPECT_FALSE((n * h).symbol());
  EXPECT_FALSE(n.FloorDiv(2).symbol());
  EXPECT_TRUE(Dim::Symbol("").unknown());
}

TEST(Dim, DivisionRoundsDown) {
  EXPECT_EQ(Dim(7).FloorDiv(2), Dim(3));
  EXPECT_EQ(Dim(-7).FloorDiv(2), Dim(-4));
  EXPECT_EQ(Dim(7).FloorDiv(-2), Dim(-4));
  EXPECT_EQ(Dim(-7).FloorDiv(-2), Dim(3));
  EXPECT_EQ(Dim(7).CeilDiv(2), Dim(4));
  EXPECT_EQ(Dim(-7).CeilDiv(2), Dim(-3));
  EXPECT_TRUE(Dim(7).FloorDiv(0).unknown());
  EXPECT_TRUE(n.FloorDiv(0).unknown());
  EXPECT_TRUE(Dim(INT64_MIN).FloorDiv(-1).unknown());
}

TEST(Dim, DivisionIsExactWhereItCan) {
  EXPECT_EQ((n * 4 + 6).FloorDiv(2), n * 2 + 3);
  EXPECT_EQ((n * 4 + 7).FloorDiv(4), n + 1);
  EXPECT_EQ((n * h * 12).FloorDiv(n * 4), h * 3);
  EXPECT_EQ((n + h).FloorDiv(n + h), Dim(1));
  EXPECT_EQ((h - 1).FloorDiv(2).ToString(), "floor((H+1)/2)-1");
  EXPECT_EQ((h - 1).FloorDiv(2), (h + 1).FloorDiv(2) - 1);
}

TEST(Dim, OverflowGivesUnknown) {
  EXPECT_TRUE((Dim(INT64_MAX) + 1).unknown());
  EXPECT_TRUE((Dim(INT64_MAX) * 2).unknown());
  EXPECT_TRUE((n * INT64_MAX + n).unknown());
  EXPECT_TRUE((Dim(INT64_MIN) - 1).unknown());
}

TEST(Dim, GrowthIsLimited) {
  Dim product = n + 1;
  for (int i = 0; i < 20; ++i) product = product * (Dim::Symbol("x" + std::to_string(i)) + 1);
  EXPECT_TRUE(product.unknown());
  Dim power = n;
  for (int i = 0; i < 20; ++i) power = power * n;
  EXPECT_TRUE(power.unknown());
  Dim nested = n;
  for (int i = 0; i < 1000; ++i) nested = (nested + 1).FloorDiv(2);
  EXPECT_TRUE(nested.unknown());
}

TEST(Dim, TextReadsBack) {
  const std::vector<Dim> dims = {Dim(),
                                 Dim(0),
                                 Dim(-5),
                                 Dim(INT64_MIN),
                                 Dim(INT64_MAX),
                                 n,
                                 n * -1,
                                 n * 2 + 1,
                                 n * h - h + 3,
                                 n * n * -2,
                                 Dim::Symbol("a b"),
                                 Dim::Symbol("floor"),
                                 Dim::Symbol("9"),
                                 Dim::Symbol("?"),
                                 Dim::Symbol("q\"\\]"),
                                 (h - 1).FloorDiv(2),
                                 (h * 2).FloorDiv(3) * n,
                                 (n + 5).FloorDiv(h),
                                 (n + 5).FloorDiv(h + 1),
                                 (h + 1).CeilDiv(2),
                                 ((h - 1).FloorDiv(2) - 1).FloorDiv(3) + 1};
  for (const Dim& dim : dims) {
    const std::optional<Dim> parsed = Dim::Parse(dim.ToString());
    ASSERT_TRUE(parsed.has_value()) << dim.ToString();
    EXPECT_TRUE(parsed->SameAs(dim)) << dim.ToString() << " became " << parsed->ToString();
  }
}

TEST(Dim, WhatIsNoDimIsRefused) {
  for (const char* text : {"", "1x", "n+", "*n", "(n", "floor(n", "floor(n/)", "n n", "\"a", "\"\"",
                           "99999999999999999999", "-", "n]"}) {
    EXPECT_FALSE(Dim::Parse(text).has_value()) << text;
  }
  EXPECT_FALSE(Dim::Parse(std::string(100000, '(')).has_value());
  EXPECT_FALSE(Dim::Parse(std::string(100000, '-')).has_value());
}

// Arithmetic on Dims and on the integers that stand for their symbols agree.
TEST(Dim, EvaluatesToWhatIntegersGive) {
  std::mt19937 random(1);
  const auto value_of = [](std::string_view name) -> std::optional<int64_t> {
    return name == "N" ? 7 : name == "H" ? 23 : 2;
  };
  for (int round = 0; round < 500; ++round) {
    Dim dim = n;
    int64_t value = 7;
    for (int step = 0; step < 5; ++step) {
      const int64_t number = static_cast<int64_t>(random() % 9) - 4;
      const bool symbolic = random() % 2 == 0;
      const Dim operand = symbolic ? h : Dim(number);
      const int64_t operand_value = symbolic ? 23 : number;
      switch (random() % 5) {
        case 0:
          dim = dim + operand;
          value += operand_value;
          break;
        case 1:
          dim = dim - operand;
          value -= operand_value;
          break;
        case 2:
          dim = dim * operand;
          value *= operand_value;
          break;
        case 3:
          if (operand_value == 0) break;
          dim = dim.FloorDiv(operand);
          value = Dim(value).FloorDiv(operand_value).value();
          break;
        case 4:
          if (operand_value == 0) break;
          dim = dim.CeilDiv(operand);
          value = Dim(value).CeilDiv(operand_value).value();
          break;
      }
    }
    if (dim.unknown()) continue;
    ASSERT_EQ(dim.Evaluate(value_of), value) << dim.ToString();
  }
  EXPECT_FALSE((n + 1).Evaluate([](std::string_view) { return std::nullopt; }));
}

}  // namespace
}  // namespace kheya
