// Plan: a graph made ready to execute: steps in order, the place of every value, packed weights.
// Made by CompilePlan, run by Executor. Never changed once made; thread-safe to share. It keeps
// nothing of the graph but the nodes that are evaluated, so that weights that were packed can go.
#ifndef KHEYA_RUNTIME_PLAN_H_
#define KHEYA_RUNTIME_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "kernels/kernel.h"
#include "ops/op.h"
#include "tensor/tensor.h"

namespace kheya {

// An index into Plan::registers; kNoRegister for an optional input or output left out.
using RegisterId = int32_t;
inline constexpr RegisterId kNoRegister = -1;

// Where a value is at run time, in one layout. A value that steps need in two layouts has two.
struct Register {
  enum class Place : uint8_t {
    kConstant,  // `constant`
    kInput,     // the caller's memory
    kOutput,    // the caller's memory, or memory made for the caller
    kArena,     // at `offset` of the run's arena
    kDynamic,   // a Value made by a step: shape or kind is not known before
  };
  Place place = Place::kDynamic;
  TensorDesc desc;                // known unless the place is kDynamic
  RegisterId root = kNoRegister;  // whose memory this shares; itself when it has its own
  size_t offset = 0;
  size_t bytes = 0;
  int external = -1;  // which input or output of the plan
  Tensor constant;
};

// A kernel that was timed for a step.
struct TacticTime {
  std::string tactic;
  double seconds = 0;  // of one run on one thread; infinite where it failed or answered wrong
};

struct Step {
  std::string name;    // the node's, for people
  std::string op;      // "Conv", "Reorder"
  std::string tactic;  // "onednn:conv", "reference"
  std::vector<RegisterId> inputs;
  std::vector<RegisterId> outputs;
  // The step runs this when set, the operator's evaluate otherwise.
  std::shared_ptr<const PreparedKernel> kernel;
  const OpDef* op_def = nullptr;
  std::shared_ptr<const Node> node;  // for evaluate alone
  // Values of the graph that the node's subgraphs use.
  std::vector<std::pair<ValueId, RegisterId>> captures;
  // Dynamic registers that nothing needs after this step.
  std::vector<RegisterId> releases;
  size_t workspace_offset = 0;
  // The other kernels that could run this step.
  std::vector<const char*> alternatives;
  // For profiles: multiply-accumulates by the operator's definition, 0 where it counts none; bytes
  // of constant inputs that the kernel packed; times of all kernels where they were asked for.
  int64_t macs = 0;
  uint64_t packed_bytes = 0;
  std::vector<TacticTime> compared;
};

struct Plan {
  std::vector<Register> registers;
  std::vector<Step> steps;
  std::vector<RegisterId> inputs;  // in the graph's order, as all four
  std::vector<RegisterId> outputs;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  size_t arena_bytes = 0;

  RegisterId RootOf(RegisterId id) const {
    while (registers[id].root != id) id = registers[id].root;
    return id;
  }
};

// One line a step: operator, tactic, shapes and layouts; then the arena.
std::string DescribePlan(const Plan& plan);

}  // namespace kheya

#endif  // KHEYA_RUNTIME_PLAN_H_
