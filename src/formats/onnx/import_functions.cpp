// Importer's part for the model's own functions: calls are replaced by bodies.
#include <algorithm>

#include "formats/limits.h"
#include "formats/onnx/importer.h"

namespace kheya::onnx {

Status Importer::CountNode(const NodeProto& node) {
  if (++num_nodes_ > limits::kNodes) {
    return ResourceExhaustedError("found more than {} nodes with functions inlined",
                                  limits::kNodes);
  }
  if (active_calls_.empty()) return OkStatus();
  inlined_work_ += static_cast<int64_t>(node.inputs.size() + node.outputs.size());
  for (const AttributeProto& attribute : node.attributes) {
    inlined_work_ += static_cast<int64_t>(attribute.ints.size() + attribute.floats.size() +
                                          attribute.strings.size() + attribute.s.size());
    for (const TensorProto& tensor : attribute.tensors) {
      inlined_work_ += static_cast<int64_t>(tensor.message.size());
    }
  }
  if (inlined_work_ <= limits::kInlinedWork) return OkStatus();
  return ResourceExhaustedError("the functions of the model are too large when inlined");
}

Status Importer::IndexFunctions() {
  for (const FunctionProto& function : model_.functions) {
    if (!functions_
             .emplace(std::tuple(function.domain, function.name, function.overload), &function)
             .second) {
      return InvalidArgumentError("function {} is there twice", Quote(function.name));
    }
  }
  return OkStatus();
}

const FunctionProto* Importer::FindFunction(const NodeProto& node) const {
  const auto it = functions_.find(std::tuple(node.domain, node.op, node.overload));
  return it == functions_.end() ? nullptr : it->second;
}

Status Importer::InlineFunction(const FunctionProto& function, const NodeProto& call,
                                Scope& scope) {
  if (std::find(active_calls_.begin(), active_calls_.end(), &function) != active_calls_.end()) {
    return InvalidArgumentError("function {} calls itself", Quote(function.name));
  }
  if (active_calls_.size() >= limits::kFunctionDepth) {
    return ResourceExhaustedError("functions call each other more than {} deep",
                                  limits::kFunctionDepth);
  }
  inlined_work_ += static_cast<int64_t>(function.inputs.size() + function.outputs.size() +
                                        function.nodes.size());
  Opsets opsets;
  KHEYA_RETURN_IF_ERROR(ReadOpsets(function.opsets, opsets));
  Arguments arguments;
  for (const AttributeProto& attribute : function.default_attributes) {
    arguments[attribute.name] = &attribute;
  }
  for (const AttributeProto& attribute : call.attributes) {
    if (const AttributeProto* value = Resolve(attribute, scope)) arguments[attribute.name] = value;
  }
  const std::string_view label =
      !call.name.empty() || call.outputs.empty() ? call.name : call.outputs[0];
  Scope body{.graph = scope.graph, .opsets = &opsets, .arguments = &arguments};
  body.prefix = fmt::format("{}{}/", scope.prefix, label);
  KHEYA_RETURN_IF_ERROR(BindFunctionInputs(function, call, scope, body));
  for (size_t i = 0; i < function.outputs.size() && i < call.outputs.size(); ++i) {
    if (call.outputs[i].empty()) continue;
    body.output_names.emplace(function.outputs[i], OutputName(call.outputs[i], scope));
  }
  active_calls_.push_back(&function);
  Status status = ImportNodes(function.nodes, body);
  active_calls_.pop_back();
  KHEYA_RETURN_IF_ERROR(std::move(status).WithContext("function {}", Quote(function.name)));
  return BindFunctionOutputs(function, call, scope, body);
}

Status Importer::BindFunctionInputs(const FunctionProto& function, const NodeProto& call,
                                    Scope& caller, Scope& body) {
  if (call.inputs.size() > function.inputs.size()) {
    return InvalidArgumentError("found {} inputs, expected at most {}", call.inputs.size(),
                                function.inputs.size());
  }
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    ValueId value;
    if (i < call.inputs.size() && !call.inputs[i].empty()) {
      KHEYA_ASSIGN_OR_RETURN(value, Lookup(call.inputs[i], caller));
    }
    if (!body.values.emplace(function.inputs[i], value).second) {
      return InvalidArgumentError("input {} of function {} is declared twice",
                                  Quote(function.inputs[i]), Quote(function.name));
    }
  }
  return OkStatus();
}

Status Importer::BindFunctionOutputs(const FunctionProto& function, const NodeProto& call,
                                     Scope& caller, Scope& body) {
  if (call.outputs.size() > function.outputs.size()) {
    return InvalidArgumentError("found {} outputs, expected at most {}", call.outputs.size(),
                                function.outputs.size());
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i].empty()) continue;
    Result<ValueId> value = Lookup(function.outputs[i], body);
    if (!value.ok()) {
      return std::move(value).status().WithContext("function {}: output", Quote(function.name));
    }
    KHEYA_RETURN_IF_ERROR(Bind(call.outputs[i], *value, caller));
  }
  return OkStatus();
}

}  // namespace kheya::onnx
