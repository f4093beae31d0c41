#include "ops/check_inputs.h"

#include <algorithm>
#include <map>
#include <vector>

namespace kheya {
namespace {

bool MayBeMissing(const ParamDef& formal) {
  return formal.presence == Presence::kOptional || formal.presence == Presence::kAnyNumber;
}

// The formal parameter that stands for position `index`; null: there is none.
const ParamDef* FormalOf(std::span<const ParamDef> formals, size_t index) {
  if (index < formals.size()) return &formals[index];
  if (formals.empty()) return nullptr;
  const Presence last = formals.back().presence;
  const bool many = last == Presence::kVariadic || last == Presence::kAnyNumber;
  return many ? &formals.back() : nullptr;
}

// `kind` is "input" or "output".
Status CheckArity(const char* kind, std::span<const ParamDef> formals,
                  std::span<const ValueId> actuals) {
  if (!actuals.empty() && FormalOf(formals, actuals.size() - 1) == nullptr) {
    return InvalidArgumentError("found {} {}s, expected at most {}", actuals.size(), kind,
                                formals.size());
  }
  for (size_t i = 0; i < formals.size(); ++i) {
    if (MayBeMissing(formals[i])) continue;
    if (i >= actuals.size() || (*kind == 'i' && !actuals[i].valid())) {
      return InvalidArgumentError("found no {} '{}', which is required", kind, formals[i].name);
    }
  }
  for (size_t i = formals.size(); *kind == 'i' && i < actuals.size(); ++i) {
    if (!actuals[i].valid()) {
      return InvalidArgumentError("found no input {}, expected every input of '{}'", i,
                                  formals.back().name);
    }
  }
  return OkStatus();
}

Status CheckAttributes(const OpDef& op, const Node& node) {
  for (const Attribute& attribute : node.attributes) {
    const auto found = std::ranges::find_if(
        op.attributes, [&](const AttributeDef& def) { return attribute.name == def.name; });
    if (found == op.attributes.end()) {
      return InvalidArgumentError("found attribute '{}', which {} does not have", attribute.name,
                                  op.name);
    }
    if (found->kind != attribute.kind()) {
      return InvalidArgumentError("found attribute '{}' of kind {}, expected {}", attribute.name,
                                  AttributeKindName(attribute.kind()),
                                  AttributeKindName(found->kind));
    }
  }
  for (const AttributeDef& def : op.attributes) {
    if (def.required && node.FindAttribute(def.name) == nullptr) {
      return InvalidArgumentError("found no attribute '{}', which is required", def.name);
    }
  }
  return OkStatus();
}

}  // namespace

Status CheckNode(const OpDef& op, const Node& node) {
  KHEYA_RETURN_IF_ERROR(CheckArity("input", op.inputs, node.inputs));
  KHEYA_RETURN_IF_ERROR(CheckArity("output", op.outputs, node.outputs));
  return CheckAttributes(op, node);
}

Status CheckInputTypes(const OpDef& op, std::span<const DType> dtypes) {
  std::map<char, DType> by_letter;
  for (size_t i = 0; i < dtypes.size(); ++i) {
    const ParamDef* formal = FormalOf(op.inputs, i);
    if (formal == nullptr || dtypes[i] == DType::kUndefined) continue;
    if ((formal->types & MaskOf({dtypes[i]})) == 0) {
      return UnimplementedError("found input '{}' of element type {}, which {} does not take",
                                formal->name, DTypeName(dtypes[i]), op.name);
    }
    if (formal->type_var == '\0') continue;
    const auto [entry, added] = by_letter.emplace(formal->type_var, dtypes[i]);
    if (!added && entry->second != dtypes[i]) {
      return InvalidArgumentError("found input '{}' of element type {}, expected {} as before it",
                                  formal->name, DTypeName(dtypes[i]), DTypeName(entry->second));
    }
  }
  return OkStatus();
}

Status CheckInputValues(const OpDef& op, std::span<const Value> inputs) {
  std::vector<DType> dtypes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ParamDef* formal = FormalOf(op.inputs, i);
    if (formal == nullptr) {
      return InvalidArgumentError("found {} inputs, expected at most {}", inputs.size(),
                                  op.inputs.size());
    }
    const bool any = formal->types == types::kAny;
    if (!any && !inputs[i].empty() && !inputs[i].is_tensor()) {
      return InvalidArgumentError("found input '{}' that is no tensor", formal->name);
    }
    if (!any && inputs[i].empty() && !MayBeMissing(*formal)) {
      return InvalidArgumentError("found no input '{}', which is required", formal->name);
    }
    dtypes.push_back(inputs[i].is_tensor() ? inputs[i].tensor().dtype() : DType::kUndefined);
  }
  for (size_t i = inputs.size(); i < op.inputs.size(); ++i) {
    if (!MayBeMissing(op.inputs[i])) {
      return InvalidArgumentError("found no input '{}', which is required", op.inputs[i].name);
    }
  }
  return CheckInputTypes(op, dtypes);
}

}  // namespace kheya
