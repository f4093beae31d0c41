#include "runtime/frame.h"

#include <cstring>
#include <utility>

namespace kheya {
namespace {

using Place = Register::Place;

bool IsExternal(Place place) { return place == Place::kInput || place == Place::kOutput; }

Result<Tensor> CopyOf(const Tensor& tensor, const std::shared_ptr<MemoryBudget>& budget) {
  KHEYA_ASSIGN_OR_RETURN(Tensor copy, Tensor::Allocate(tensor.dtype(), tensor.shape(), budget));
  if (tensor.dtype() == DType::kString) {
    std::span<const std::string> from = tensor.data<std::string>();
    std::copy(from.begin(), from.end(), copy.mutable_data<std::string>().begin());
  } else if (tensor.num_bytes() > 0) {
    std::memcpy(copy.mutable_view().data, tensor.bytes().data(), tensor.num_bytes());
  }
  return copy;
}

Status CheckTensor(const Value& value, const TensorDesc& desc, const char* what,
                   const std::string& name) {
  if (!value.is_tensor()) return InvalidArgumentError("{} '{}': expected a tensor", what, name);
  const Tensor& tensor = value.tensor();
  if (tensor.dtype() == desc.dtype && tensor.shape() == desc.shape) return OkStatus();
  return InvalidArgumentError("{} '{}': found {}, expected {}{}", what, name, tensor.TypeString(),
                              DTypeName(desc.dtype), desc.shape.ToString());
}

}  // namespace

Result<std::unique_ptr<Frame>> Frame::Create(const Plan& plan,
                                             const std::shared_ptr<MemoryBudget>& budget) {
  std::unique_ptr<Frame> frame(new Frame(plan, budget));
  KHEYA_RETURN_IF_ERROR(frame->PlaceConstants());
  return frame;
}

Status Frame::PlaceConstants() {
  values_.resize(plan_.registers.size());
  pointers_.assign(plan_.registers.size(), nullptr);
  for (size_t i = 0; i < plan_.registers.size(); ++i) {
    const auto id = static_cast<RegisterId>(i);
    const Register& reg = plan_.registers[i];
    const Register& root = plan_.registers[plan_.RootOf(id)];
    if (reg.place == Place::kDynamic) continue;
    if (IsExternal(root.place) && reg.root != id) external_aliases_.push_back(id);
    if (root.place != Place::kConstant) continue;
    KHEYA_ASSIGN_OR_RETURN(Tensor tensor, root.constant.Reshaped(reg.desc.shape));
    BindTensor(id, tensor);
  }
  return OkStatus();
}

Status Frame::SetArena(std::unique_ptr<Buffer> arena) {
  arena_ = std::move(arena);
  if (placed_ == arena_->data()) return OkStatus();
  placed_ = nullptr;
  for (size_t i = 0; i < plan_.registers.size(); ++i) {
    const Register& reg = plan_.registers[i];
    const Register& root = plan_.registers[plan_.RootOf(static_cast<RegisterId>(i))];
    if (reg.place == Place::kDynamic || root.place != Place::kArena) continue;
    std::byte* data = arena_->data() + root.offset;
    // Nothing that lies in the arena outlives the run, so these own nothing.
    const std::shared_ptr<const void> nobody(std::shared_ptr<const void>(), data);
    KHEYA_ASSIGN_OR_RETURN(
        Tensor tensor, Tensor::Borrow(reg.desc.dtype, reg.desc.shape, {data, reg.bytes}, nobody));
    values_[i] = std::move(tensor);
    pointers_[i] = data;
  }
  placed_ = arena_->data();
  return OkStatus();
}

void Frame::BindTensor(RegisterId id, const Tensor& tensor) {
  values_[id] = tensor;
  pointers_[id] = static_cast<std::byte*>(values_[id].tensor().mutable_view().data);
}

void Frame::BindAliases() {
  for (RegisterId id : external_aliases_) {
    const RegisterId root = plan_.RootOf(id);
    if (values_[root].empty()) continue;
    Result<Tensor> tensor = values_[root].tensor().Reshaped(plan_.registers[id].desc.shape);
    if (tensor.ok()) BindTensor(id, *tensor);
  }
}

Status Frame::BindInputs(std::span<const Value> inputs) {
  if (inputs.size() != plan_.inputs.size()) {
    return InvalidArgumentError("found {} inputs, expected {}", inputs.size(), plan_.inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const RegisterId id = plan_.inputs[i];
    const Register& reg = plan_.registers[id];
    if (reg.place == Place::kDynamic) {
      KHEYA_ASSIGN_OR_RETURN(values_[id], inputs[i].Aligned(budget_));
      continue;
    }
    const std::string& name = plan_.input_names[i];
    KHEYA_RETURN_IF_ERROR(CheckTensor(inputs[i], reg.desc, "input", name));
    KHEYA_ASSIGN_OR_RETURN(Tensor tensor, inputs[i].tensor().Aligned(budget_));
    BindTensor(id, tensor);
  }
  return OkStatus();
}

Status Frame::BindOutputs(std::span<const Value> outputs) {
  if (outputs.size() != plan_.outputs.size()) {
    return InvalidArgumentError("found place for {} outputs, expected {}", outputs.size(),
                                plan_.outputs.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const RegisterId id = plan_.outputs[i];
    const Register& reg = plan_.registers[id];
    const bool given = outputs[i].is_tensor();
    if (given && reg.place != Place::kDynamic) {
      const std::string& name = plan_.output_names[i];
      KHEYA_RETURN_IF_ERROR(CheckTensor(outputs[i], reg.desc, "output", name));
    }
    if (reg.place != Place::kOutput || reg.external != static_cast<int>(i)) continue;
    if (given && outputs[i].tensor().aligned()) {
      BindTensor(id, outputs[i].tensor());
      continue;
    }
    KHEYA_ASSIGN_OR_RETURN(Tensor tensor,
                           Tensor::Allocate(reg.desc.dtype, reg.desc.shape, budget_));
    BindTensor(id, tensor);
  }
  BindAliases();
  return OkStatus();
}

Status Frame::Collect(std::span<Value> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const RegisterId id = plan_.outputs[i];
    const Register& reg = plan_.registers[id];
    const Value& value = values_[id];
    const std::string& name = plan_.output_names[i];
    const bool own = reg.place == Place::kOutput && reg.external == static_cast<int>(i);
    if (!outputs[i].is_tensor()) {
      if (own) {
        outputs[i] = value;
        continue;
      }
      KHEYA_ASSIGN_OR_RETURN(outputs[i], Owned(value));
      continue;
    }
    if (reg.place == Place::kDynamic) {
      if (!value.is_tensor()) {
        return InvalidArgumentError("output '{}': found memory of a tensor for another kind", name);
      }
      const TensorDesc desc{value.tensor().dtype(), value.tensor().shape()};
      KHEYA_RETURN_IF_ERROR(CheckTensor(outputs[i], desc, "output", name));
    }
    Tensor& target = outputs[i].tensor();
    const Tensor& source = value.tensor();
    if (target.bytes().data() == source.bytes().data()) continue;
    if (source.dtype() == DType::kString) {
      std::span<const std::string> from = source.data<std::string>();
      std::copy(from.begin(), from.end(), target.mutable_data<std::string>().begin());
    } else if (source.num_bytes() > 0) {
      std::memcpy(target.mutable_view().data, source.bytes().data(), source.num_bytes());
    }
  }
  return OkStatus();
}

std::unique_ptr<Buffer> Frame::Clear() {
  lists_.results.clear();
  for (size_t i = 0; i < values_.size(); ++i) {
    const auto id = static_cast<RegisterId>(i);
    const Place place = plan_.registers[plan_.RootOf(id)].place;
    if (place != Place::kDynamic && !IsExternal(place)) continue;
    values_[i] = Value();
    pointers_[i] = nullptr;
  }
  return std::move(arena_);
}

Result<Value> Frame::Owned(Value value) const {
  if (value.is_tensor()) {
    const Tensor& tensor = value.tensor();
    if (tensor.dtype() == DType::kString) return value;
    KHEYA_ASSIGN_OR_RETURN(Tensor copy, CopyOf(tensor, budget_));
    return Value(std::move(copy));
  }
  if (const Sequence* sequence = value.sequence()) {
    Sequence copy;
    for (const Value& item : *sequence) {
      KHEYA_ASSIGN_OR_RETURN(Value owned, Owned(item));
      copy.push_back(std::move(owned));
    }
    return Value(std::move(copy));
  }
  return value;
}

Status Frame::SetDynamic(RegisterId id, Value value) {
  KHEYA_ASSIGN_OR_RETURN(values_[id], Owned(std::move(value)));
  return OkStatus();
}

}  // namespace kheya
