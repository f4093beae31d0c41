#include "runtime/arena_pool.h"

#include <gtest/gtest.h>

namespace kheya {
namespace {

TEST(ArenaPoolTest, TakesTheSmallestThatIsLargeEnough) {
  ArenaPool pool(nullptr);
  std::unique_ptr<Buffer> large = pool.Take(5000).value(), small = pool.Take(1000).value();
  const std::byte* large_data = large->data();
  const std::byte* small_data = small->data();
  pool.Give(std::move(large));
  pool.Give(std::move(small));
  std::unique_ptr<Buffer> first = pool.Take(900).value(), second = pool.Take(900).value();
  EXPECT_EQ(first->data(), small_data);
  EXPECT_EQ(second->data(), large_data);
}

TEST(ArenaPoolTest, OneThatIsTooSmallIsFreedFirst) {
  const auto budget = std::make_shared<MemoryBudget>("test", 12000);
  ArenaPool pool(budget);
  pool.Give(pool.Take(5000).value());
  EXPECT_GE(budget->used_bytes(), 5000u);
  std::unique_ptr<Buffer> arena = pool.Take(9000).value();  // both would be over the limit
  EXPECT_GE(arena->size(), 9000u);
  pool.Give(std::move(arena));
  EXPECT_FALSE(pool.Take(20000).ok());
}

}  // namespace
}  // namespace kheya
