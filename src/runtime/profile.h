// What is known of the steps of a plan beside their time: the work each does and the memory it
// touches. For profiles.
#ifndef KHEYA_RUNTIME_PROFILE_H_
#define KHEYA_RUNTIME_PROFILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/plan.h"

namespace kheya {

struct StepInfo {
  std::string name;                 // the node's
  std::string op;                   // "Conv", "Reorder"
  std::string tactic;               // "onednn:conv", "reference"
  std::string layout;               // of the first output: "plain", "channels_last"
  std::vector<std::string> inputs;  // "float32[1,3,224,224]"; "?" where not known before a run
  std::vector<std::string> outputs;
  int64_t macs = 0;                    // multiply-accumulates by the definition; 0: not counted
  std::optional<uint64_t> bytes_read;  // constants included; nullopt where shapes are not known
  std::optional<uint64_t> bytes_written;
  // With CompilePlanOptions::compare: every kernel that supports the step, in order of preference.
  std::vector<TacticTime> compared;
};

// In the order of the steps. A step that looks rows up reads no more than it gives.
std::vector<StepInfo> DescribeSteps(const Plan& plan);

}  // namespace kheya

#endif  // KHEYA_RUNTIME_PROFILE_H_
