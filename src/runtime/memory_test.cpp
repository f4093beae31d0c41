#include "runtime/memory.h"

#include <gmock/gmock.h>

namespace kheya {
namespace {

using Place = Register::Place;

class FakeKernel : public PreparedKernel {
 public:
  FakeKernel(bool in_place, size_t workspace) : in_place_(in_place), workspace_(workspace) {}
  size_t workspace_bytes() const override { return workspace_; }
  bool CanRunInPlace(int input) const override { return in_place_ && input == 0; }
  Status Run(const KernelArgs&) const override { return OkStatus(); }

 private:
  const bool in_place_;
  const size_t workspace_;
};

class PlaceMemoryTest : public testing::Test {
 protected:
  RegisterId Add(Place place, size_t bytes) {
    Register reg;
    reg.place = place;
    reg.bytes = bytes;
    reg.root = static_cast<RegisterId>(plan_.registers.size());
    plan_.registers.push_back(reg);
    return reg.root;
  }
  void AddStep(std::vector<RegisterId> inputs, RegisterId output, bool in_place = false,
               size_t workspace = 0) {
    Step step;
    step.inputs = std::move(inputs);
    step.outputs = {output};
    step.kernel = std::make_shared<FakeKernel>(in_place, workspace);
    plan_.steps.push_back(step);
  }
  size_t Offset(RegisterId id) const { return plan_.registers[plan_.RootOf(id)].offset; }

  Plan plan_;
};

TEST_F(PlaceMemoryTest, ReusesMemoryOfEndedValues) {
  const RegisterId x = Add(Place::kInput, 100);
  const RegisterId a = Add(Place::kArena, 100), b = Add(Place::kArena, 100);
  const RegisterId c = Add(Place::kArena, 100), y = Add(Place::kOutput, 100);
  AddStep({x}, a);
  AddStep({a}, b);
  AddStep({b}, c);
  AddStep({c}, y);
  plan_.outputs = {y};
  ASSERT_TRUE(PlaceMemory(plan_).ok());
  EXPECT_NE(Offset(a), Offset(b));
  EXPECT_EQ(Offset(a), Offset(c));
  EXPECT_EQ(plan_.arena_bytes, 256u);
}

TEST_F(PlaceMemoryTest, KeepsValuesThatLiveOn) {
  const RegisterId x = Add(Place::kInput, 64);
  const RegisterId a = Add(Place::kArena, 64), b = Add(Place::kArena, 64);
  const RegisterId c = Add(Place::kArena, 64);
  AddStep({x}, a);
  AddStep({a}, b, /*in_place=*/true);
  AddStep({b, a}, c);
  plan_.outputs = {c};
  ASSERT_TRUE(PlaceMemory(plan_).ok());
  EXPECT_NE(Offset(a), Offset(b));
  EXPECT_NE(Offset(a), Offset(c));
  EXPECT_NE(Offset(b), Offset(c));
}

TEST_F(PlaceMemoryTest, RunsInPlaceWhereTheInputEnds) {
  const RegisterId x = Add(Place::kInput, 64);
  const RegisterId a = Add(Place::kArena, 64), b = Add(Place::kArena, 64);
  const RegisterId c = Add(Place::kArena, 32);
  AddStep({x}, a, /*in_place=*/true);
  AddStep({a}, b, /*in_place=*/true);
  AddStep({b}, c, /*in_place=*/true);
  plan_.outputs = {c};
  ASSERT_TRUE(PlaceMemory(plan_).ok());
  EXPECT_EQ(plan_.RootOf(a), a) << "memory of the caller is never written";
  EXPECT_EQ(plan_.RootOf(b), a);
  EXPECT_EQ(plan_.RootOf(c), c) << "the sizes differ";
}

TEST_F(PlaceMemoryTest, AliasesKeepTheirRootAlive) {
  const RegisterId a = Add(Place::kArena, 64), b = Add(Place::kArena, 64);
  const RegisterId alias = Add(Place::kArena, 64), c = Add(Place::kArena, 64);
  plan_.registers[alias].root = a;
  AddStep({}, a);
  AddStep({a}, b);
  AddStep({alias, b}, c);
  plan_.outputs = {c};
  ASSERT_TRUE(PlaceMemory(plan_).ok());
  EXPECT_NE(Offset(a), Offset(b));
  EXPECT_EQ(Offset(alias), Offset(a));
}

TEST_F(PlaceMemoryTest, WorkspaceDoesNotOverlapWhatLives) {
  const RegisterId a = Add(Place::kArena, 64), b = Add(Place::kArena, 64);
  AddStep({}, a);
  AddStep({a}, b, false, 200);
  plan_.outputs = {b};
  ASSERT_TRUE(PlaceMemory(plan_).ok());
  EXPECT_EQ(plan_.steps[1].workspace_offset, 128u);
  EXPECT_EQ(plan_.arena_bytes, 384u);
}

TEST_F(PlaceMemoryTest, ReleasesDynamicValuesAfterTheirLastUse) {
  const RegisterId a = Add(Place::kDynamic, 0), b = Add(Place::kDynamic, 0);
  AddStep({}, a);
  AddStep({a}, b);
  plan_.outputs = {b};
  ASSERT_TRUE(PlaceMemory(plan_).ok());
  EXPECT_THAT(plan_.steps[0].releases, testing::IsEmpty());
  EXPECT_THAT(plan_.steps[1].releases, testing::ElementsAre(a));
}

TEST_F(PlaceMemoryTest, RefusesSizesThatOverflow) {
  AddStep({}, Add(Place::kArena, SIZE_MAX / 2));
  EXPECT_EQ(PlaceMemory(plan_).code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace kheya
