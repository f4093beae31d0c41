// The runtime's part of a package: for one kind of machine, which kernels were chosen, which packed
// weights lie where, and the lowered graphs that plans are made of, kept as bytes.
#ifndef KHEYA_RUNTIME_PLAN_IO_H_
#define KHEYA_RUNTIME_PLAN_IO_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kernels/pack_cache.h"
#include "runtime/tuner.h"
#include "tensor/shape.h"

namespace kheya {

// What packed weights and choices depend on beside the model: features of the processor, version
// and build of this program, versions of libraries. Equal on two machines when a plan may move.
std::string PlanMachine();

// Shapes of the inputs that a plan was made for, by name; empty where the model's own are fixed.
using PlanShapes = std::map<std::string, Shape>;

struct PlanRecord {
  PlanShapes shapes;
  std::string graph;  // lowered
};

// Where packed weights lie in the section of packed weights.
struct PackedRecord {
  Hash128 content;
  std::string layout;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  Hash128 hash;
};

struct PlansRecord {
  std::string machine;
  bool tuned = false;  // kernels were timed
  TacticChoices choices;
  std::vector<PlanRecord> plans;
  std::vector<PackedRecord> packed;
};

std::string WritePlans(const PlansRecord& record);
// InvalidArgument for damaged bytes.
Result<PlansRecord> ReadPlans(std::span<const std::byte> bytes);
// The machine alone.
Result<std::string> ReadPlansMachine(std::span<const std::byte> bytes);

// Gives each entry its place, and the pieces of the section, which refer to the entries.
std::vector<PackedRecord> PlacePacked(const std::vector<PackCache::Entry>& entries,
                                      std::vector<std::string_view>* pieces);
// Hands what `section`, kept by `owner`, holds to `cache`. InvalidArgument when a record lies
// outside.
Status AddPacked(const std::vector<PackedRecord>& records, std::span<const std::byte> section,
                 const std::shared_ptr<const void>& owner, PackCache* cache);

}  // namespace kheya

#endif  // KHEYA_RUNTIME_PLAN_IO_H_
