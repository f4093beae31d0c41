#include "base/allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

namespace kheya {
namespace {

using ::testing::HasSubstr;

TEST(Reservation, GivesBackWhatItTook) {
  auto budget = std::make_shared<MemoryBudget>("small", 100);
  {
    Result<Reservation> taken = Reservation::Take(budget, 80);
    ASSERT_TRUE(taken.ok());
    const Reservation moved = std::move(taken).value();
    EXPECT_EQ(budget->used_bytes(), 80u);
    EXPECT_EQ(Reservation::Take(budget, 21).status().code(), StatusCode::kResourceExhausted);
  }
  EXPECT_EQ(budget->used_bytes(), 0u);
}

TEST(BufferTest, IsAlignedAndHasAZeroedTail) {
  for (const size_t size : {0, 1, 63, 64, 65, 1000, 4096, 100003}) {
    Result<Buffer> buffer = Buffer::Allocate(size);
    ASSERT_TRUE(buffer.ok());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % kAlignment, 0u);
    EXPECT_EQ(buffer->size(), size);
    for (size_t i = 0; i < kReadableTail; ++i) {
      ASSERT_EQ(buffer->data()[size + i], std::byte{0}) << size << " " << i;
    }
  }
}

TEST(BufferTest, ZeroedIsZero) {
  for (int round = 0; round < 2; ++round) {
    Result<Buffer> buffer = Buffer::AllocateZeroed(1000);
    ASSERT_TRUE(buffer.ok());
    for (std::byte& b : buffer->bytes()) {
      ASSERT_EQ(b, std::byte{0});
      b = std::byte{0xFF};
    }
  }
}

TEST(BufferTest, MovesAndReleasesItsBudget) {
  auto budget = std::make_shared<MemoryBudget>("model", 10000);
  {
    Result<Buffer> a = Buffer::Allocate(1000, budget);
    ASSERT_TRUE(a.ok());
    const std::byte* data = a->data();
    Buffer b = std::move(*a);
    EXPECT_EQ(b.data(), data);
    EXPECT_EQ(a->size(), 0u);
    EXPECT_GE(budget->used_bytes(), 1000u);
    Result<Buffer> c = Buffer::Allocate(10, budget);
    ASSERT_TRUE(c.ok());
    *c = std::move(b);
    EXPECT_EQ(c->data(), data);
  }
  EXPECT_EQ(budget->used_bytes(), 0u);
  EXPECT_GE(budget->peak_bytes(), 1010u);
}

TEST(BufferTest, RefusesSizesThatOverflow) {
  Result<Buffer> buffer = Buffer::Allocate(std::numeric_limits<size_t>::max() - 10);
  EXPECT_EQ(buffer.status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(Buffer::Allocate(size_t{1} << 62).status().code(), StatusCode::kResourceExhausted);
}

TEST(MemoryBudgetTest, RefusesWithNumbersAndLeavesNothingReserved) {
  auto parent = std::make_shared<MemoryBudget>("process", 100);
  MemoryBudget child("model", 80, parent);
  EXPECT_TRUE(child.Reserve(50).ok());
  const Status own = child.Reserve(31);
  EXPECT_EQ(own.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(own.message(), "memory budget 'model': asked for 31 bytes, found 50 of 80 in use");
  EXPECT_TRUE(parent->Reserve(40).ok());
  EXPECT_THAT(child.Reserve(20).message(), HasSubstr("'process'"));
  EXPECT_EQ(child.used_bytes(), 50u);
  EXPECT_EQ(parent->used_bytes(), 90u);
  child.Release(50);
  EXPECT_EQ(parent->used_bytes(), 40u);
  EXPECT_FALSE(child.Reserve(std::numeric_limits<uint64_t>::max()).ok());
}

TEST(MemoryBudgetTest, NeverPassesItsLimitUnderContention) {
  MemoryBudget budget("model", 1000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&budget] {
      for (int i = 0; i < 2000; ++i) {
        if (budget.Reserve(300).ok()) budget.Release(300);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used_bytes(), 0u);
  EXPECT_LE(budget.peak_bytes(), 1000u);
  EXPECT_GE(budget.peak_bytes(), 300u);
}

TEST(MemoryBudgetTest, TheProcessHasALimit) { EXPECT_GT(ProcessBudget()->limit_bytes(), 0u); }

}  // namespace
}  // namespace kheya
