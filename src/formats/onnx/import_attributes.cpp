// Importer's part for attributes, subgraphs and Constant nodes.
#include <algorithm>

#include "formats/limits.h"
#include "formats/onnx/importer.h"

namespace kheya::onnx {
namespace {

// What an attribute without a type holds, as files of the first IR versions have them.
AttributeType GuessType(const AttributeProto& proto) {
  if (!proto.floats.empty()) return AttributeType::kFloats;
  if (!proto.ints.empty()) return AttributeType::kInts;
  if (!proto.strings.empty()) return AttributeType::kStrings;
  if (!proto.tensors.empty()) return AttributeType::kTensor;
  if (!proto.graphs.empty()) return AttributeType::kGraph;
  if (!proto.types.empty()) return AttributeType::kType;
  if (!proto.s.empty()) return AttributeType::kString;
  if (proto.f != 0) return AttributeType::kFloat;
  return AttributeType::kInt;
}

AttributeType TypeOf(const AttributeProto& proto) {
  const bool known = proto.type >= 1 && proto.type <= static_cast<int>(AttributeType::kTypes);
  if (known) return static_cast<AttributeType>(proto.type);
  return proto.type == 0 ? GuessType(proto) : AttributeType::kUndefined;
}

std::vector<std::string> ToStrings(const Names& names) { return {names.begin(), names.end()}; }

template <typename T>
Tensor ListTensor(const std::vector<T>& values) {
  return Tensor::FromValues<T>(Shape{static_cast<int64_t>(values.size())}, values);
}

// The tensor that an attribute of a Constant node stands for.
Result<Tensor> ConstantFrom(const Attribute& attribute) {
  if (const auto* tensor = std::get_if<Tensor>(&attribute.value)) return *tensor;
  if (const auto* f = std::get_if<float>(&attribute.value)) return Tensor::Scalar(*f);
  if (const auto* i = std::get_if<int64_t>(&attribute.value)) return Tensor::Scalar(*i);
  if (const auto* s = std::get_if<std::string>(&attribute.value)) return Tensor::Scalar(*s);
  if (const auto* list = std::get_if<std::vector<float>>(&attribute.value)) {
    return ListTensor(*list);
  }
  if (const auto* list = std::get_if<std::vector<int64_t>>(&attribute.value)) {
    return ListTensor(*list);
  }
  if (const auto* list = std::get_if<std::vector<std::string>>(&attribute.value)) {
    return ListTensor(*list);
  }
  return InvalidArgumentError("found an attribute of kind {}, expected a tensor, numbers or text",
                              AttributeKindName(attribute.kind()));
}

}  // namespace

const AttributeProto* Importer::Resolve(const AttributeProto& proto, const Scope& scope) const {
  if (proto.ref_name.empty() || scope.arguments == nullptr) return &proto;
  const auto it = scope.arguments->find(proto.ref_name);
  return it == scope.arguments->end() ? nullptr : it->second;
}

Result<std::optional<Attribute>> Importer::ImportAttribute(const AttributeProto& proto,
                                                           Scope& scope) {
  const AttributeProto* source = Resolve(proto, scope);
  if (source == nullptr) return std::optional<Attribute>();
  if (source != &proto && !source->graphs.empty()) {
    return UnimplementedError("graphs as attributes of functions are not supported");
  }
  if (source == &proto && !proto.ref_name.empty()) {
    return InvalidArgumentError("refers to attribute {} outside of a function",
                                Quote(proto.ref_name));
  }
  KHEYA_ASSIGN_OR_RETURN(AttributeValue value, ImportAttributeValue(*source, scope));
  return std::optional(Attribute{std::string(proto.name), std::move(value)});
}

Result<AttributeValue> Importer::ImportAttributeValue(const AttributeProto& proto, Scope& scope) {
  const AttributeType type = TypeOf(proto);
  switch (type) {
    case AttributeType::kFloat:
      return AttributeValue(proto.f);
    case AttributeType::kInt:
      return AttributeValue(proto.i);
    case AttributeType::kString:
      return AttributeValue(std::string(proto.s));
    case AttributeType::kFloats:
      return AttributeValue(proto.floats);
    case AttributeType::kInts:
      return AttributeValue(proto.ints);
    case AttributeType::kStrings:
      return AttributeValue(ToStrings(proto.strings));
    case AttributeType::kTypes:
      return AttributeValue(proto.types);
    case AttributeType::kType:
      if (proto.types.size() != 1) return InvalidArgumentError("found no type, expected one");
      return AttributeValue(proto.types[0]);
    case AttributeType::kTensor:
    case AttributeType::kTensors: {
      std::vector<Tensor> tensors;
      for (const TensorProto& tensor : proto.tensors) {
        KHEYA_ASSIGN_OR_RETURN(tensors.emplace_back(), tensors_.Read(tensor));
      }
      if (type == AttributeType::kTensors) return AttributeValue(std::move(tensors));
      if (tensors.size() != 1) {
        return InvalidArgumentError("found {} tensors, expected 1", tensors.size());
      }
      return AttributeValue(std::move(tensors[0]));
    }
    case AttributeType::kGraph:
    case AttributeType::kGraphs: {
      std::vector<std::shared_ptr<Graph>> graphs;
      for (const auto& graph : proto.graphs) {
        KHEYA_ASSIGN_OR_RETURN(graphs.emplace_back(), ImportSubgraph(*graph, scope));
      }
      if (type == AttributeType::kGraphs) return AttributeValue(std::move(graphs));
      if (graphs.size() != 1) {
        return InvalidArgumentError("found {} graphs, expected 1", graphs.size());
      }
      return AttributeValue(std::move(graphs[0]));
    }
    case AttributeType::kSparseTensor: {
      if (proto.sparse == nullptr) return InvalidArgumentError("found no sparse tensor");
      KHEYA_ASSIGN_OR_RETURN(Tensor tensor, tensors_.Read(*proto.sparse));
      return AttributeValue(std::move(tensor));
    }
    default:
      return UnimplementedError("attributes of type {} are not supported", proto.type);
  }
}

Result<std::shared_ptr<Graph>> Importer::ImportSubgraph(const GraphProto& proto, Scope& scope) {
  auto graph = std::make_shared<Graph>(std::string(proto.name));
  if (options_.keep_notes) CopyGraphFacts(proto, *graph);
  Scope body{
      .graph = graph.get(), .parent = &scope, .opsets = scope.opsets, .arguments = scope.arguments};
  KHEYA_RETURN_IF_ERROR(ImportGraph(proto, body));
  return graph;
}

Status Importer::ImportConstant(const NodeProto& node, Scope& scope) {
  if (node.outputs.size() != 1 || node.outputs[0].empty() || !node.inputs.empty()) {
    return InvalidArgumentError("found {} inputs and {} outputs, expected none and 1",
                                node.inputs.size(), node.outputs.size());
  }
  for (const AttributeProto& proto : node.attributes) {
    if (!proto.name.starts_with("value") && proto.name != "sparse_value") continue;
    Result<std::optional<Attribute>> attribute = ImportAttribute(proto, scope);
    if (!attribute.ok()) {
      return std::move(attribute).status().WithContext("attribute {}", Quote(proto.name));
    }
    if (!*attribute) continue;
    Result<Tensor> tensor = ConstantFrom(**attribute);
    if (!tensor.ok()) {
      return std::move(tensor).status().WithContext("attribute {}", Quote(proto.name));
    }
    const ValueId value =
        scope.graph->AddConstant(OutputName(node.outputs[0], scope), std::move(tensor).value());
    return Bind(node.outputs[0], value, scope);
  }
  return InvalidArgumentError("found no value, expected attribute 'value'");
}

}  // namespace kheya::onnx
