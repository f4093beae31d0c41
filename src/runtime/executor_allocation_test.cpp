// A run of known shapes with places for its outputs asks for no memory. The counter stands in for
// the allocation functions of this whole program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "graph/text.h"
#include "ops/infer.h"
#include "runtime/compile.h"
#include "runtime/executor.h"

namespace {
thread_local int64_t allocations = 0;

void* Counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = alignment <= alignof(std::max_align_t) ? std::malloc(bytes)
                                                        : std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

// Out of line, lest the compiler pair one that it inlined with one that it did not, and warn.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return Counted(bytes, 1); }
void* operator new[](std::size_t bytes) { return Counted(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return Counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return Counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace kheya {
namespace {

// Allocations of one run after a few others.
int64_t AllocationsOfRun(bool with_places) {
  Graph graph = ParseGraph(R"(graph net(x: float32[2,64]) -> (y) {
    placeholder = Neg(x)
    a = MatMul(x, placeholder)
    b = Relu(a)
    c = Softmax(b)
    y = Tanh(c)
  })")
                    .value();
  const ValueId w =
      graph.AddConstant("weights", Tensor::Zeros(DType::kFloat32, Shape{64, 32}).value());
  const ValueId a = *graph.FindValue("a");
  graph.SetInput(graph.value(a).producer, 1, w);
  EXPECT_TRUE(InferTypes(graph).ok());
  PackCache cache;
  const auto plan = CompilePlan(graph, {.tactics = Tactics::kPortable, .cache = &cache});
  EXPECT_TRUE(plan.ok()) << plan.status().ToString();
  Executor executor(*plan, Runtime::Default(), nullptr);
  const std::vector<Value> inputs = {Tensor::Zeros(DType::kFloat32, Shape{2, 64}).value()};
  std::vector<Value> outputs(1);
  RunContext context;
  context.threads = 1;
  int64_t counted = 0;
  for (int i = 0; i < 3; ++i) {
    if (!with_places) outputs[0] = Value();
    const int64_t before = allocations;
    EXPECT_TRUE(executor.Run(context, inputs, outputs).ok());
    counted = allocations - before;
  }
  return counted;
}

TEST(ExecutorAllocationTest, RunsWithPlacesForOutputsAllocateNothing) {
  EXPECT_EQ(AllocationsOfRun(true), 0);
}

TEST(ExecutorAllocationTest, TheCounterCounts) { EXPECT_GT(AllocationsOfRun(false), 0); }

}  // namespace
}  // namespace kheya
