#include "runtime/step_context.h"

#include <cstring>
#include <utility>

#include "base/random.h"
#include "ops/infer.h"
#include "ops/text_memory.h"

namespace kheya {
namespace {

// What the plan expects may be what the file declares, where nothing could be inferred.
Status CheckOutput(const Register& reg, int index, DType dtype, const Shape& shape) {
  if (reg.desc.dtype == dtype && reg.desc.shape == shape) return OkStatus();
  return InvalidArgumentError("output {}: found {}{}, declared or inferred was {}{}", index,
                              DTypeName(dtype), shape.ToString(), DTypeName(reg.desc.dtype),
                              reg.desc.shape.ToString());
}

}  // namespace

const Value& StepContext::input_value(int index) const {
  static const Value empty;
  const RegisterId id = index < num_inputs() ? step_.inputs[index] : kNoRegister;
  return id == kNoRegister ? empty : frame_.value(id);
}

Result<MutableTensorView> StepContext::Output(int index, DType dtype, const Shape& shape) {
  const RegisterId id = wants_output(index) ? step_.outputs[index] : kNoRegister;
  if (id != kNoRegister && frame_.plan().registers[id].place != Register::Place::kDynamic) {
    KHEYA_RETURN_IF_ERROR(CheckOutput(frame_.plan().registers[id], index, dtype, shape));
    return MutableTensorView{dtype, shape, frame_.pointer(id)};
  }
  if (dtype == DType::kString) KHEYA_RETURN_IF_ERROR(CheckTextFits(*this, shape));
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape, budget()));
  const MutableTensorView view = tensor.mutable_view();
  if (id == kNoRegister) {
    scratch_.push_back(std::move(tensor));
  } else {
    frame_.GiveDynamic(id, std::move(tensor));
  }
  return view;
}

Status StepContext::SetOutput(int index, Value value) {
  if (!wants_output(index)) return OkStatus();
  const RegisterId id = step_.outputs[index];
  const Register& reg = frame_.plan().registers[id];
  if (reg.place == Register::Place::kDynamic) return frame_.SetDynamic(id, std::move(value));
  if (!value.is_tensor()) return InternalError("output {}: expected a tensor", index);
  const Tensor& tensor = value.tensor();
  KHEYA_RETURN_IF_ERROR(CheckOutput(reg, index, tensor.dtype(), tensor.shape()));
  if (tensor.num_bytes() > 0) {
    std::memcpy(frame_.pointer(id), tensor.bytes().data(), tensor.num_bytes());
  }
  return OkStatus();
}

uint64_t StepContext::seed() const {
  return run_.seed == 0 ? FreshSeed() : MixSeed(run_.seed, node(), 0);
}

Result<std::vector<Value>> StepContext::RunSubgraph(const Graph& graph,
                                                    std::span<const Value> inputs) {
  InterpretOptions options;
  options.budget = budget();
  options.check_alive = [this] { return run_.CheckAlive(); };
  if (run_.seed != 0) options.seed = MixSeed(run_.seed, node(), ++subgraph_runs_);
  for (ValueId capture : graph.captures()) {
    const ValueId outer = graph.value(capture).outer;
    RegisterId id = kNoRegister;
    for (const auto& [value, place] : step_.captures) {
      if (value == outer) id = place;
    }
    if (id == kNoRegister) {
      return InternalError("captured value '{}' has no place", graph.value(capture).name);
    }
    options.captures.push_back(frame_.value(id));
  }
  return Interpret(graph, inputs, options);
}

}  // namespace kheya
