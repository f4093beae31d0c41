#include "formats/onnx/exporter.h"

#include <algorithm>
#include <utility>

#include "formats/onnx/notes.h"
#include "formats/onnx/proto.h"
#include "formats/onnx/type_writer.h"
#include "formats/onnx/versions.h"

namespace kheya::onnx {
namespace {

// Smaller tensors stay in the model, where readers look for shapes and axes.
constexpr size_t kExternalBytes = 1024;
// Of offsets in the external data, so that the file can be mapped.
constexpr uint64_t kExternalAlignment = 4096;

// "pytorch 2.1" as the file had it: name and version.
void AddProducer(const std::string& producer, ProtobufWriter& model) {
  const size_t space = producer.rfind(' ');
  if (!producer.empty()) model.Bytes(2, producer.substr(0, space));
  if (space != producer.npos) model.Bytes(3, producer.substr(space + 1));
}

// A constant that something uses.
bool IsWritten(const Graph& graph, ValueId id) {
  return graph.Constant(id) != nullptr && (!graph.value(id).uses.empty() || graph.IsOutput(id));
}

template <typename T>
constexpr bool kIsList = false;
template <typename T>
constexpr bool kIsList<std::vector<T>> = true;

}  // namespace

ProtobufWriter ExternalData::Add(const Tensor& tensor, std::string_view name) {
  static const std::string padding(kExternalAlignment, '\0');
  const uint64_t gap = (kExternalAlignment - size_ % kExternalAlignment) % kExternalAlignment;
  if (gap > 0) pieces_.push_back(std::string_view(padding).substr(0, gap));
  size_ += gap;
  ProtobufWriter message = TensorHead(tensor, name);
  const std::pair<const char*, std::string> entries[] = {
      {"location", location_},
      {"offset", std::to_string(size_)},
      {"length", std::to_string(tensor.num_bytes())}};
  for (const auto& [key, value] : entries) message.Message(13, EntryMessage(key, value));
  message.Int64(14, 1);
  pieces_.push_back(BytesOf(tensor));
  size_ += tensor.num_bytes();
  return message;
}

Result<ProtobufWriter> Exporter::Export() {
  domains_.insert("");
  KHEYA_ASSIGN_OR_RETURN(ProtobufWriter graph, GraphMessage(graph_, nullptr));
  ProtobufWriter model;
  model.Int64(1, IrVersion(opset_, dtypes_));
  AddProducer(graph_.producer, model);
  if (!graph_.model_domain.empty()) model.Bytes(4, graph_.model_domain);
  if (graph_.model_version != 0) model.Int64(5, graph_.model_version);
  const std::string* doc = graph_.FindMetadata("doc_string");
  if (doc != nullptr) model.Bytes(6, *doc);
  model.Message(7, std::move(graph));
  for (const std::string& domain : domains_) {
    ProtobufWriter import;
    import.Bytes(1, domain);
    import.Int64(2, domain.empty() ? opset_ : DomainVersion(graph_, domain));
    model.Message(8, std::move(import));
  }
  for (const auto& [key, value] : graph_.metadata()) {
    if (key != "doc_string") model.Message(14, EntryMessage(key, value));
  }
  return model;
}

Status Exporter::NameValues(Scope& scope) {
  const Graph& graph = scope.graph;
  for (ValueId input : graph.inputs()) SetName(scope, input, graph.value(input).name);
  for (ValueId capture : graph.captures()) {
    scope.names[capture.index] = scope.parent->Name(graph.value(capture).outer);
  }
  KHEYA_RETURN_IF_ERROR(NameOutputs(scope));
  for (ValueId value : graph.ValueIds()) {
    if (!scope.names.contains(value.index)) SetName(scope, value, graph.value(value).name);
  }
  return OkStatus();
}

std::string Exporter::FreeName(const Scope& scope, const std::string& base) {
  std::string name = base;
  for (int suffix = 1; name.empty() || scope.IsTaken(name); ++suffix) {
    name = fmt::format("{}_{}", base.empty() ? "value" : base, suffix);
  }
  return name;
}

void Exporter::SetName(Scope& scope, ValueId value, const std::string& base) {
  scope.names[value.index] = FreeName(scope, base);
  scope.taken.insert(scope.names[value.index]);
}

// Callers know a model's outputs by name: those names come first, whatever values are called.
// Within subgraphs outputs go by place, and may have any name.
Status Exporter::NameOutputs(Scope& scope) {
  const bool inner = scope.parent != nullptr;
  std::unordered_set<std::string> given;
  for (const GraphOutput& output : scope.graph.outputs()) {
    const GraphValue& value = scope.graph.value(output.value);
    const bool named = scope.names.contains(output.value.index);
    const bool taken = scope.IsTaken(output.name);
    if (!named && (inner || !taken)) SetName(scope, output.value, output.name);
    const bool is_it = scope.names.contains(output.value.index) &&
                       (inner || scope.Name(output.value) == output.name) &&
                       value.origin != ValueOrigin::kCapture;
    if (is_it && given.insert(scope.Name(output.value)).second) {
      scope.outputs.push_back(scope.Name(output.value));
      continue;
    }
    if (!inner && taken) {
      return InvalidArgumentError("output {} is called as another value", Quote(output.name));
    }
    scope.outputs.push_back(FreeName(scope, output.name));
    scope.taken.insert(scope.outputs.back());
    scope.copies.emplace_back(output.value, scope.outputs.back());
  }
  return OkStatus();
}

Result<ProtobufWriter> Exporter::GraphMessage(const Graph& graph, const Scope* parent) {
  Scope scope{.graph = graph, .parent = parent};
  KHEYA_RETURN_IF_ERROR(NameValues(scope));
  ProtobufWriter message;
  KHEYA_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  for (NodeId id : order) {
    Result<ProtobufWriter> node =
        NodeMessage(graph.node(id), NodeName(scope, graph.node(id)), scope);
    if (!node.ok()) return std::move(node).status().WithContext("{}", graph.node(id).Describe());
    WriteNote(graph.notes.nodes, id.index, kNodeNote, *node);
    message.Message(1, *std::move(node));
  }
  for (const auto& [value, name] : scope.copies) {
    ProtobufWriter node;
    node.Bytes(1, scope.Name(value));
    node.Bytes(2, name);
    node.Bytes(4, "Identity");
    message.Message(1, std::move(node));
  }
  message.Bytes(2, graph.name().empty() ? "graph" : graph.name());
  KHEYA_RETURN_IF_ERROR(AddInitializers(scope, message));
  if (!graph.doc.empty()) message.Bytes(10, graph.doc);
  AddTypes(scope, message);
  for (const auto& [key, value] : graph.graph_metadata)
    message.Message(16, EntryMessage(key, value));
  return message;
}

Status Exporter::AddInitializers(const Scope& scope, ProtobufWriter& message) {
  for (ValueId id : scope.graph.ValueIds()) {
    if (!IsWritten(scope.graph, id)) continue;
    const Tensor* constant = scope.graph.Constant(id);
    dtypes_.insert(constant->dtype());
    const bool external = external_ != nullptr && constant->dtype() != DType::kString &&
                          constant->num_bytes() >= kExternalBytes;
    ProtobufWriter tensor = external ? external_->Add(*constant, scope.Name(id))
                                     : TensorMessage(*constant, scope.Name(id));
    WriteNote(scope.graph.notes.constants, id.index, kTensorNote, tensor);
    message.Message(5, std::move(tensor));
  }
  return OkStatus();
}

void Exporter::AddTypes(const Scope& scope, ProtobufWriter& message) {
  const Graph& graph = scope.graph;
  using ByName = std::map<std::string, Note>;
  auto add = [&](uint32_t field, const std::string& name, const ValueType& type,
                 const ByName& notes = {}, const std::string& noted = {}) {
    ProtobufWriter info = ValueInfoMessage(name, type);
    WriteNote(notes, noted, kValueNote, info);
    message.Message(field, std::move(info));
    dtypes_.insert(type.dtype);
  };
  for (ValueId id : graph.inputs()) {
    const GraphValue& value = graph.value(id);
    add(11, scope.Name(id), value.type, graph.notes.inputs, value.name);
  }
  for (const std::string& name : graph.default_inputs) {
    const std::optional<ValueId> id = graph.FindValue(name);
    if (!id || !IsWritten(graph, *id)) continue;
    add(11, scope.Name(*id), ValueType::OfTensor(*graph.Constant(*id)), graph.notes.inputs, name);
  }
  for (size_t i = 0; i < scope.outputs.size(); ++i) {
    const GraphOutput& output = graph.outputs()[i];
    add(12, scope.outputs[i], graph.value(output.value).type, graph.notes.outputs, output.name);
  }
  for (ValueId id : graph.ValueIds()) {
    const GraphValue& value = graph.value(id);
    if (value.origin != ValueOrigin::kNode || graph.IsOutput(id)) continue;
    if (TypeMessage(value.type)) add(13, scope.Name(id), value.type);
  }
}

// Readers want a graph's node names once, or none at all.
std::string Exporter::NodeName(Scope& scope, const Node& node) {
  std::string name = node.name;
  while (!name.empty() && !scope.node_names.emplace(name, 0).second) {
    name = fmt::format("{}_{}", node.name, ++scope.node_names[node.name]);
  }
  return name;
}

Result<ProtobufWriter> Exporter::NodeMessage(const Node& node, const std::string& name,
                                             const Scope& scope) {
  if (node.domain == kInternalDomain) {
    return UnimplementedError("an operator of Kheya's own has no form in an ONNX model");
  }
  domains_.insert(node.domain);
  auto names = [&](const std::vector<ValueId>& values) {
    std::vector<std::string> all;
    for (ValueId value : values) all.push_back(value.valid() ? scope.Name(value) : "");
    while (!all.empty() && all.back().empty()) all.pop_back();
    return all;
  };
  ProtobufWriter message;
  for (const std::string& input : names(node.inputs)) message.Bytes(1, input);
  for (const std::string& output : names(node.outputs)) message.Bytes(2, output);
  if (!name.empty()) message.Bytes(3, name);
  message.Bytes(4, node.op);
  for (const Attribute& attribute : node.attributes) {
    KHEYA_ASSIGN_OR_RETURN(ProtobufWriter written, AttributeMessage(attribute, scope));
    message.Message(5, std::move(written));
  }
  if (!node.domain.empty()) message.Bytes(7, node.domain);
  return message;
}

Result<ProtobufWriter> Exporter::AttributeMessage(const Attribute& attribute, const Scope& scope) {
  ProtobufWriter message;
  message.Bytes(1, attribute.name);
  // Field and AttributeProto.AttributeType of each kind, in the order of AttributeKind.
  struct Form {
    uint32_t field;
    AttributeType type;
  };
  constexpr Form kForms[] = {
      {3, AttributeType::kInt},      {2, AttributeType::kFloat},   {4, AttributeType::kString},
      {5, AttributeType::kTensor},   {6, AttributeType::kGraph},   {14, AttributeType::kType},
      {8, AttributeType::kInts},     {7, AttributeType::kFloats},  {9, AttributeType::kStrings},
      {10, AttributeType::kTensors}, {11, AttributeType::kGraphs}, {15, AttributeType::kTypes}};
  const Form form = kForms[attribute.value.index()];
  Status status;
  auto add = [&](const auto& value) {
    using T = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<T, int64_t>) {
      message.Int64(form.field, value);
    } else if constexpr (std::is_same_v<T, float>) {
      message.Float(form.field, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      message.Bytes(form.field, value);
    } else if constexpr (std::is_same_v<T, Tensor>) {
      message.Message(form.field, TensorMessage(value, ""));
      dtypes_.insert(value.dtype());
    } else if constexpr (std::is_same_v<T, ValueType>) {
      message.Message(form.field, TypeMessage(value).value_or(ProtobufWriter()));
    } else {
      Result<ProtobufWriter> graph = GraphMessage(*value, &scope);
      if (!graph.ok()) {
        status = std::move(graph).status();
        return;
      }
      message.Message(form.field, *std::move(graph));
    }
  };
  std::visit(
      [&](const auto& value) {
        if constexpr (kIsList<std::decay_t<decltype(value)>>) {
          for (const auto& element : value) add(element);
        } else {
          add(value);
        }
      },
      attribute.value);
  KHEYA_RETURN_IF_ERROR(std::move(status).WithContext("attribute {}", Quote(attribute.name)));
  message.Int64(20, static_cast<int64_t>(form.type));
  return message;
}

}  // namespace kheya::onnx
