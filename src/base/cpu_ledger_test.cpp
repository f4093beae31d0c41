#include "base/cpu_ledger.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/denormals.h"

namespace kheya {
namespace {

using std::chrono::milliseconds;

TEST(CpuLedgerTest, GivesWhatIsFree) {
  CpuLedger ledger(4);
  Result<CpuLease> a = ledger.Acquire(3);
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a->cpus(), 3);
  {
    Result<CpuLease> b = ledger.Acquire(3);
    ASSERT_TRUE(b.ok());
    EXPECT_EQ(b->cpus(), 1);
    EXPECT_EQ(ledger.in_use(), 4);
  }
  EXPECT_EQ(ledger.in_use(), 3);
  *a = CpuLease();
  EXPECT_EQ(ledger.in_use(), 0);
  EXPECT_EQ(ledger.Acquire(-5)->cpus(), 1);
  EXPECT_EQ(CpuLedger(0).allowed(), 1);
}

TEST(CpuLedgerTest, TheSumNeverExceedsWhatIsAllowed) {
  constexpr int kAllowed = 5;
  CpuLedger ledger(kAllowed);
  std::atomic<int> held{0};
  std::atomic<int> worst{0};
  std::atomic<int> served{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        Result<CpuLease> lease = ledger.Acquire(1 + (t + i) % 4);
        ASSERT_TRUE(lease.ok());
        const int now = held.fetch_add(lease->cpus()) + lease->cpus();
        int seen = worst.load();
        while (seen < now && !worst.compare_exchange_weak(seen, now)) {
        }
        served.fetch_add(1);
        if (i % 16 == 0) std::this_thread::yield();
        held.fetch_sub(lease->cpus());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(served.load(), 16 * 200);
  EXPECT_LE(worst.load(), kAllowed);
  EXPECT_EQ(ledger.in_use(), 0);
}

TEST(CpuLedgerTest, ADeadlineEndsTheWait) {
  CpuLedger ledger(1);
  Result<CpuLease> held = ledger.Acquire(1);
  EXPECT_EQ(ledger.Acquire(1, Clock::now() + milliseconds(5)).status().code(),
            StatusCode::kDeadlineExceeded);
  EXPECT_EQ(ledger.Acquire(1, Clock::now() - milliseconds(5)).status().code(),
            StatusCode::kDeadlineExceeded);
  *held = CpuLease();
  EXPECT_TRUE(ledger.Acquire(1, Clock::now() + milliseconds(5)).ok());
}

TEST(CpuLedgerTest, ACancelFlagEndsTheWait) {
  CpuLedger ledger(1);
  Result<CpuLease> held = ledger.Acquire(1);
  std::atomic<bool> cancel{false};
  Status status;
  std::thread waiter([&] { status = ledger.Acquire(1, kNoDeadline, &cancel).status(); });
  cancel = true;
  waiter.join();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  *held = CpuLease();
  EXPECT_EQ(ledger.Acquire(1, kNoDeadline, &cancel).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(ledger.in_use(), 0);
}

TEST(CpuLedgerTest, AWaiterThatLeavesLetsTheNextOneIn) {
  CpuLedger ledger(1);
  Result<CpuLease> held = ledger.Acquire(1);
  std::atomic<bool> cancel{false};
  std::atomic<bool> served{false};
  std::thread first([&] { EXPECT_FALSE(ledger.Acquire(1, kNoDeadline, &cancel).ok()); });
  std::thread second([&] { served = ledger.Acquire(1).ok(); });
  cancel = true;
  first.join();
  *held = CpuLease();
  second.join();
  EXPECT_TRUE(served);
}

TEST(RuntimeTest, AllowsAtLeastOneCpuAndAtMostTheOption) {
  EXPECT_GE(AllowedCpus(), 1);
  EXPECT_EQ(Runtime({.threads = 1}).ledger().allowed(), 1);
  EXPECT_LE(Runtime({.threads = 1000}).ledger().allowed(), AllowedCpus());
  EXPECT_EQ(Runtime::Default()->ledger().allowed(), AllowedCpus());
}

TEST(RuntimeTest, CallsEachIndexOnce) {
  Runtime runtime;
  Result<CpuLease> lease = runtime.ledger().Acquire(64);
  ASSERT_TRUE(lease.ok());
  for (const int64_t count : {0, 1, 2, 3, 1000}) {
    std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
    runtime.ParallelFor(*lease, count, [&](int64_t i) { calls[static_cast<size_t>(i)]++; });
    for (std::atomic<int>& n : calls) ASSERT_EQ(n.load(), 1);
  }
  EXPECT_LE(runtime.workers(), runtime.ledger().allowed() - 1);
}

TEST(RuntimeTest, ALeaseOfOneStartsNoThread) {
  Runtime runtime;
  Result<CpuLease> lease = runtime.ledger().Acquire(1);
  ASSERT_TRUE(lease.ok());
  const auto caller = std::this_thread::get_id();
  runtime.ParallelFor(*lease, 10, [&](int64_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
  runtime.ParallelFor(CpuLease(), 10,
                      [&](int64_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
  EXPECT_EQ(runtime.workers(), 0);
}

TEST(RuntimeTest, NestedCallsRunOnTheirThread) {
  Runtime runtime;
  Result<CpuLease> lease = runtime.ledger().Acquire(64);
  ASSERT_TRUE(lease.ok());
  std::atomic<int> calls{0};
  runtime.ParallelFor(*lease, 8, [&](int64_t) {
    const auto outer = std::this_thread::get_id();
    runtime.ParallelFor(*lease, 8, [&](int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      calls++;
    });
  });
  EXPECT_EQ(calls.load(), 64);
}

TEST(RuntimeTest, ServesSeveralCallersAtOnce) {
  Runtime runtime;
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 8; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        Result<CpuLease> lease = runtime.ledger().Acquire(2);
        ASSERT_TRUE(lease.ok());
        std::vector<int64_t> out(50);  // written without atomics: tiles are disjoint
        runtime.ParallelFor(*lease, 50, [&](int64_t i) { out[static_cast<size_t>(i)] = i; });
        for (const int64_t v : out) sum += v;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum.load(), 8 * 100 * (49 * 50 / 2));
  EXPECT_LE(runtime.workers(), runtime.ledger().allowed() - 1);
}

TEST(DenormalsTest, FlushesInsideAndRestoresTheMode) {
  volatile float tiny = 1e-40f;
  const uint64_t before = GetFloatMode();
  {
    ScopedFlushDenormals flush;
    EXPECT_EQ(tiny * 1.0f, 0.0f);
  }
  EXPECT_EQ(GetFloatMode(), before);
  EXPECT_GT(tiny * 1.0f, 0.0f);
}

TEST(DenormalsTest, WorkersTakeOverTheCallersMode) {
  Runtime runtime;
  Result<CpuLease> lease = runtime.ledger().Acquire(64);
  ASSERT_TRUE(lease.ok());
  volatile float tiny = 1e-40f;
  std::atomic<int> wrong{0};
  for (int round = 0; round < 20; ++round) {
    runtime.ParallelFor(*lease, 100, [&](int64_t) { wrong += tiny * 1.0f == 0.0f; });
    ScopedFlushDenormals flush;
    runtime.ParallelFor(*lease, 100, [&](int64_t) { wrong += tiny * 1.0f != 0.0f; });
  }
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace kheya
