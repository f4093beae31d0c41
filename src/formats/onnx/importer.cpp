#include "formats/onnx/importer.h"

#include <set>
#include <utility>

#include "base/string_util.h"
#include "formats/onnx/node_order.h"
#include "formats/onnx/upgrade.h"
#include "formats/onnx/versions.h"
#include "ops/infer.h"

namespace kheya::onnx {
namespace {

// Rules for opsets before this one ask for element types and ranks.
constexpr int64_t kFirstOpsetWithoutTypes = 21;

}  // namespace

void Importer::Warn(std::string text) {
  if (warnings_ != nullptr) warnings_->push_back(std::move(text));
}

Result<Graph> Importer::Import() {
  if (!model_.graph) return InvalidArgumentError("found no graph, expected an ONNX model");
  KHEYA_RETURN_IF_ERROR(ReadOpsets(model_.opsets, opsets_));
  if (!opsets_.contains("")) {
    opsets_[""] = NewestOpset(model_.ir_version);
    Warn(fmt::format("the file names no operator set: opset {} is assumed for IR version {}",
                     opsets_[""], model_.ir_version));
  }
  KHEYA_RETURN_IF_ERROR(IndexFunctions());
  if (model_.has_training_info) Warn("the training information of the file is left out");
  Graph graph{std::string(model_.graph->name)};
  CopyFacts(graph);
  Scope scope{.graph = &graph, .opsets = &opsets_};
  KHEYA_RETURN_IF_ERROR(ImportGraph(*model_.graph, scope));
  if (!scope.initializers.empty()) {
    Warn(fmt::format("{} initializers are not used, {} among them", scope.initializers.size(),
                     Quote(scope.initializers.begin()->first)));
  }
  return graph;
}

Status Importer::ReadOpsets(const std::vector<OpsetImport>& imports, Opsets& opsets) {
  for (const OpsetImport& import : imports) {
    const auto [it, added] = opsets.emplace(import.domain, import.version);
    if (!added && it->second != import.version) {
      return InvalidArgumentError("found opsets {} and {} of domain {}, expected one", it->second,
                                  import.version, Quote(import.domain));
    }
    if (import.version < 1) {
      return InvalidArgumentError("found opset {} of domain {}, expected at least 1",
                                  import.version, Quote(import.domain));
    }
    if (import.domain.empty() && import.version > kCanonicalOpset) {
      return UnimplementedError("opset {} is not supported, the newest supported is {}",
                                import.version, kCanonicalOpset);
    }
  }
  return OkStatus();
}

void Importer::CopyFacts(Graph& graph) {
  for (const OpsetImport& import : model_.opsets) {
    graph.declared_opsets.emplace_back(import.domain, import.version);
  }
  graph.producer = model_.producer_name;
  if (!model_.producer_version.empty()) {
    graph.producer += fmt::format(" {}", model_.producer_version);
  }
  for (const auto& [key, value] : model_.metadata) graph.metadata().emplace_back(key, value);
  const std::string_view doc = model_.doc_string;
  if (!doc.empty() && graph.FindMetadata("doc_string") == nullptr && IsValidUtf8(doc)) {
    graph.metadata().emplace_back("doc_string", doc);
  }
  graph.model_domain = model_.domain;
  graph.model_version = model_.version;
  CopyGraphFacts(*model_.graph, graph);
}

void Importer::CopyGraphFacts(const GraphProto& proto, Graph& graph) {
  if (IsValidUtf8(proto.doc_string)) graph.doc = proto.doc_string;
  for (const auto& [key, value] : proto.metadata) graph.graph_metadata.emplace_back(key, value);
}

Status Importer::ImportGraph(const GraphProto& proto, Scope& scope) {
  for (const ValueInfoProto& info : proto.value_infos) {
    scope.declared.emplace(info.name, &info.type);
  }
  for (const ValueInfoProto& info : proto.outputs) scope.declared[info.name] = &info.type;
  KHEYA_RETURN_IF_ERROR(AddInitializers(proto, scope));
  KHEYA_RETURN_IF_ERROR(AddInputs(proto, scope));
  KHEYA_RETURN_IF_ERROR(ImportNodes(proto.nodes, scope));
  return AddOutputs(proto, scope);
}

Status Importer::AddInitializers(const GraphProto& proto, Scope& scope) {
  auto add = [&](std::string_view name, Initializer initializer) {
    if (!scope.initializers.insert_or_assign(name, initializer).second) {
      Warn(fmt::format("initializer {} is there twice: the last one is used", Quote(name)));
    }
  };
  for (const TensorProto& tensor : proto.initializers) add(tensor.name, {.dense = &tensor});
  for (const SparseTensorProto& tensor : proto.sparse_initializers) {
    add(tensor.values.name, {.sparse = &tensor});
  }
  return OkStatus();
}

Status Importer::AddInputs(const GraphProto& proto, Scope& scope) {
  std::set<std::string_view> defaults;
  for (const ValueInfoProto& input : proto.inputs) {
    if (input.name.empty()) return InvalidArgumentError("found an input without a name");
    KHEYA_RETURN_IF_ERROR(
        KeepNote(input.message, kValueNote, std::string(input.name), scope.graph->notes.inputs));
    if (scope.initializers.contains(input.name)) {
      if (!options_.overridden.contains(input.name)) {
        const bool first = defaults.insert(input.name).second;
        if (scope.parent == nullptr && first) scope.graph->default_inputs.emplace_back(input.name);
        continue;
      }
      scope.initializers.erase(input.name);
    }
    if (scope.values.contains(input.name)) {
      return InvalidArgumentError("input {} is declared twice", Quote(input.name));
    }
    scope.values[input.name] = scope.graph->AddInput(std::string(input.name), input.type);
  }
  return OkStatus();
}

Status Importer::AddOutputs(const GraphProto& proto, Scope& scope) {
  std::set<std::string> seen;
  std::set<std::string> taken;
  for (const ValueInfoProto& output : proto.outputs) taken.emplace(output.name);
  for (const ValueInfoProto& output : proto.outputs) {
    Result<ValueId> value = Lookup(output.name, scope);
    if (!value.ok()) return std::move(value).status().WithContext("output");
    if (!value->valid()) {
      return InvalidArgumentError("output {} is an input that the call left out",
                                  Quote(output.name));
    }
    std::string name(output.name);
    if (!seen.insert(name).second) {
      for (int count = 2; !taken.insert(name).second; ++count) {
        name = fmt::format("{}_{}", output.name, count);
      }
      Warn(fmt::format("output {} is there again: it is called {}", Quote(output.name),
                       Quote(name)));
    }
    KHEYA_RETURN_IF_ERROR(KeepNote(output.message, kValueNote, name, scope.graph->notes.outputs));
    scope.graph->AddOutput(std::move(name), *value);
  }
  return OkStatus();
}

Status Importer::ImportNodes(const std::vector<NodeProto>& nodes, Scope& scope) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int32_t> order, NodeOrder(nodes));
  for (int32_t index : order) {
    const NodeProto& node = nodes[index];
    KHEYA_RETURN_IF_ERROR(CountNode(node));
    Status status = ImportNode(node, scope);
    if (!status.ok()) return std::move(status).WithContext("{}", Describe(node));
  }
  return OkStatus();
}

Status Importer::ImportNode(const NodeProto& node, Scope& scope) {
  if (node.op.empty()) return InvalidArgumentError("found no operator, expected its name");
  if (node.domain == kInternalDomain) {
    return InvalidArgumentError("domain '{}' is not for files", kInternalDomain);
  }
  if (const FunctionProto* function = FindFunction(node)) {
    return InlineFunction(*function, node, scope);
  }
  if (node.op == "Constant" && node.domain.empty()) return ImportConstant(node, scope);

  NodeSpec spec{.op = std::string(node.op),
                .domain = std::string(node.domain),
                .name = NodeName(node, scope)};
  for (std::string_view input : node.inputs) {
    KHEYA_ASSIGN_OR_RETURN(spec.inputs.emplace_back(),
                           input.empty() ? Result<ValueId>(ValueId()) : Lookup(input, scope));
  }
  while (!spec.inputs.empty() && !spec.inputs.back().valid()) spec.inputs.pop_back();
  for (std::string_view output : node.outputs) spec.outputs.push_back(OutputName(output, scope));
  std::set<std::string_view> attribute_names;
  for (const AttributeProto& proto : node.attributes) {
    if (!attribute_names.insert(proto.name).second) {
      return InvalidArgumentError("attribute {} is there twice", Quote(proto.name));
    }
    Result<std::optional<Attribute>> attribute = ImportAttribute(proto, scope);
    if (!attribute.ok()) {
      return std::move(attribute).status().WithContext("attribute {}", Quote(proto.name));
    }
    if (*attribute) spec.attributes.push_back(std::move(**attribute));
  }
  return AddNode(node, std::move(spec), scope);
}

Status Importer::AddNode(const NodeProto& node, NodeSpec spec, Scope& scope) {
  const auto it = scope.opsets->find("");
  const int64_t version = it == scope.opsets->end() ? opsets_[""] : it->second;
  if (spec.domain.empty()) {
    KHEYA_RETURN_IF_ERROR(UpgradeNode(*scope.graph, version, spec));
  }
  KHEYA_ASSIGN_OR_RETURN(const NodeId id, scope.graph->AddNode(std::move(spec)));
  if (active_calls_.empty()) {
    KHEYA_RETURN_IF_ERROR(KeepNote(node.message, kNodeNote, id.index, scope.graph->notes.nodes));
  }
  // Rules of the next nodes ask for types. What is wrong with this node, inference says later.
  if (version < kFirstOpsetWithoutTypes) (void)InferNode(*scope.graph, id);
  const std::vector<ValueId>& outputs = scope.graph->node(id).outputs;
  for (size_t i = 0; i < outputs.size() && i < node.outputs.size(); ++i) {
    if (!outputs[i].valid()) continue;
    KHEYA_RETURN_IF_ERROR(Bind(node.outputs[i], outputs[i], scope));
  }
  return OkStatus();
}

std::string Importer::NodeName(const NodeProto& node, const Scope& scope) const {
  if (!node.name.empty() || scope.prefix.empty()) return scope.prefix + std::string(node.name);
  return scope.prefix.substr(0, scope.prefix.size() - 1);  // without the slash
}

std::string Importer::OutputName(std::string_view name, const Scope& scope) const {
  if (name.empty()) return "";
  if (auto it = scope.output_names.find(name); it != scope.output_names.end()) return it->second;
  return scope.prefix + std::string(name);
}

Status Importer::Bind(std::string_view name, ValueId value, Scope& scope) {
  if (scope.initializers.contains(name) || !scope.values.emplace(name, value).second) {
    return InvalidArgumentError("output {} is an input or initializer too", Quote(name));
  }
  if (auto it = scope.declared.find(name); it != scope.declared.end() && value.valid()) {
    using Kind = ValueType::Kind;
    const ValueType& inferred = scope.graph->value(value).type;
    const Kind known = inferred.kind;
    const bool rank_is_news = inferred.is_tensor() && !inferred.shape && it->second->shape &&
                              inferred.dtype == it->second->dtype;
    // A loop may have widened a value to an optional.
    const bool widened = known == Kind::kOptional && it->second->kind != Kind::kOptional;
    if (known == Kind::kUnknown || widened || rank_is_news) {
      scope.graph->SetType(value, *it->second);
    }
  }
  return OkStatus();
}

Result<std::optional<ValueId>> Importer::Find(std::string_view name, Scope& scope) {
  if (auto it = scope.values.find(name); it != scope.values.end()) return std::optional(it->second);
  if (auto it = scope.initializers.find(name); it != scope.initializers.end()) {
    const Initializer initializer = it->second;
    KHEYA_ASSIGN_OR_RETURN(Tensor tensor, initializer.dense != nullptr
                                              ? tensors_.Read(*initializer.dense)
                                              : tensors_.Read(*initializer.sparse));
    const ValueId constant = scope.graph->AddConstant(std::string(name), std::move(tensor));
    if (initializer.dense != nullptr) {
      KHEYA_RETURN_IF_ERROR(KeepNote(initializer.dense->message, kTensorNote, constant.index,
                                     scope.graph->notes.constants));
    }
    scope.initializers.erase(it);
    scope.values.emplace(name, constant);
    return std::optional(constant);
  }
  if (scope.parent == nullptr) return std::optional<ValueId>();
  KHEYA_ASSIGN_OR_RETURN(std::optional<ValueId> outer, Find(name, *scope.parent));
  if (!outer || !outer->valid()) return outer;
  const ValueId capture =
      scope.graph->AddCapture(std::string(name), *outer, scope.parent->graph->value(*outer).type);
  scope.values.emplace(name, capture);
  return std::optional(capture);
}

Result<ValueId> Importer::Lookup(std::string_view name, Scope& scope) {
  KHEYA_ASSIGN_OR_RETURN(const std::optional<ValueId> value, Find(name, scope));
  if (value) return *value;
  return InvalidArgumentError("{} is made by no node, input or initializer", Quote(name));
}

}  // namespace kheya::onnx
