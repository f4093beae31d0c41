#include "runtime/profile.h"

#include <algorithm>

namespace kheya {
namespace {

const char* LayoutName(Layout layout) {
  return layout == Layout::kChannelsLast ? "channels_last" : "plain";
}

std::string TypeName(const Register& reg) {
  if (reg.place == Register::Place::kDynamic) return "?";
  return DTypeName(reg.desc.dtype) + reg.desc.shape.ToString();
}

// Bytes of all registers; nullopt where one is only known during a run.
std::optional<uint64_t> BytesOf(const Plan& plan, const std::vector<RegisterId>& ids,
                                std::vector<std::string>* types) {
  std::optional<uint64_t> total = 0;
  for (RegisterId id : ids) {
    if (id == kNoRegister) continue;
    const Register& reg = plan.registers[id];
    types->push_back(TypeName(reg));
    if (reg.place == Register::Place::kDynamic) total = std::nullopt;
    if (total) *total += reg.bytes;
  }
  return total;
}

bool PicksRows(const Step& step) {
  return step.op == "Gather" || step.op == "GatherElements" || step.op == "GatherND" ||
         step.op == "Slice";
}

}  // namespace

std::vector<StepInfo> DescribeSteps(const Plan& plan) {
  std::vector<StepInfo> infos;
  for (const Step& step : plan.steps) {
    StepInfo info;
    info.name = step.name;
    info.op = step.op;
    info.tactic = step.tactic;
    info.macs = step.macs;
    info.compared = step.compared;
    info.bytes_read = BytesOf(plan, step.inputs, &info.inputs);
    if (info.bytes_read) *info.bytes_read += step.packed_bytes;
    info.bytes_written = BytesOf(plan, step.outputs, &info.outputs);
    if (PicksRows(step) && info.bytes_read && info.bytes_written) {
      info.bytes_read = std::min(*info.bytes_read, *info.bytes_written);
    }
    const bool known = !step.outputs.empty() && step.outputs[0] != kNoRegister;
    info.layout = LayoutName(known ? plan.registers[step.outputs[0]].desc.layout : Layout::kPlain);
    infos.push_back(std::move(info));
  }
  return infos;
}

}  // namespace kheya
