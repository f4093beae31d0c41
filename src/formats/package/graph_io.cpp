#include "formats/package/graph_io.h"

#include <unordered_map>
#include <utility>

#include "base/byte_stream.h"
#include "formats/limits.h"
#include "graph/verify.h"

namespace kheya {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr uint32_t kNone = 0xffffffff;

class GraphWriter {
 public:
  explicit GraphWriter(ConstantWriter* constants) : constants_(constants) {}

  Status Write(const Graph& graph) { return WriteNested(graph, {}); }
  const std::string& bytes() const { return out_.bytes(); }

 private:
  // Numbers of the values of one graph, in the order of their writing.
  using Numbers = std::unordered_map<int32_t, uint32_t>;

  // Text that comes often: its number, and itself the first time.
  void PutShared(const std::string& text) {
    const auto [found, added] = shared_.emplace(text, static_cast<uint32_t>(shared_.size()));
    out_.Put(found->second);
    if (added) out_.PutText(text);
  }

  void PutPairs(const Pairs& pairs) {
    out_.Put<uint64_t>(pairs.size());
    for (const auto& [key, value] : pairs) {
      out_.PutText(key);
      out_.PutText(value);
    }
  }

  template <typename T, typename Put>
  void PutList(const std::vector<T>& list, const Put& put) {
    out_.Put<uint64_t>(list.size());
    for (const T& item : list) put(item);
  }

  void PutValue(const Graph& graph, ValueId id, Numbers* numbers) {
    numbers->emplace(id.index, static_cast<uint32_t>(numbers->size()));
    out_.PutText(graph.value(id).name);
    PutShared(graph.value(id).type.ToString());
  }

  static uint32_t NumberOf(const Numbers& numbers, ValueId id) {
    return id.valid() ? numbers.at(id.index) : kNone;
  }

  void PutFacts(const Graph& graph) {
    out_.PutText(graph.name());
    out_.PutText(graph.producer);
    out_.PutText(graph.model_domain);
    out_.Put(graph.model_version);
    out_.PutText(graph.doc);
    PutList(graph.declared_opsets, [&](const auto& opset) {
      out_.PutText(opset.first);
      out_.Put(opset.second);
    });
    PutPairs(graph.metadata());
    PutPairs(graph.graph_metadata);
    PutList(graph.default_inputs, [&](const std::string& name) { out_.PutText(name); });
  }

  Status WriteNested(const Graph& graph, const Numbers& outer) {
    PutFacts(graph);
    Numbers numbers;
    PutList(graph.inputs(), [&](ValueId id) { PutValue(graph, id, &numbers); });
    PutList(graph.captures(), [&](ValueId id) {
      PutValue(graph, id, &numbers);
      out_.Put(NumberOf(outer, graph.value(id).outer));
    });
    std::vector<ValueId> constants;
    for (ValueId id : graph.ValueIds()) {
      if (graph.Constant(id) != nullptr) constants.push_back(id);
    }
    PutList(constants, [&](ValueId id) {
      PutValue(graph, id, &numbers);
      out_.Put(constants_->Add(*graph.Constant(id)));
    });
    KHEYA_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
    out_.Put<uint64_t>(order.size());
    for (NodeId id : order) KHEYA_RETURN_IF_ERROR(PutNode(graph, graph.node(id), &numbers));
    PutList(graph.outputs(), [&](const GraphOutput& output) {
      out_.PutText(output.name);
      out_.Put(NumberOf(numbers, output.value));
    });
    return OkStatus();
  }

  Status PutNode(const Graph& graph, const Node& node, Numbers* numbers) {
    PutShared(node.op);
    PutShared(node.domain);
    out_.PutText(node.name);
    PutList(node.inputs, [&](ValueId id) { out_.Put(NumberOf(*numbers, id)); });
    out_.Put<uint64_t>(node.attributes.size());
    for (const Attribute& attribute : node.attributes) {
      PutShared(attribute.name);
      out_.Put(static_cast<uint8_t>(attribute.kind()));
      Status status;
      std::visit([&](const auto& value) { status = PutAttribute(value, *numbers); },
                 attribute.value);
      KHEYA_RETURN_IF_ERROR(status);
    }
    PutList(node.outputs, [&](ValueId id) {
      out_.Put<uint8_t>(id.valid());
      if (id.valid()) PutValue(graph, id, numbers);
    });
    return OkStatus();
  }

  Status PutAttribute(int64_t value, const Numbers&) { return out_.Put(value), OkStatus(); }
  Status PutAttribute(float value, const Numbers&) { return out_.Put(value), OkStatus(); }
  Status PutAttribute(const std::string& value, const Numbers&) {
    return out_.PutText(value), OkStatus();
  }
  Status PutAttribute(const Tensor& value, const Numbers&) {
    return out_.Put(constants_->Add(value)), OkStatus();
  }
  Status PutAttribute(const ValueType& value, const Numbers&) {
    return PutShared(value.ToString()), OkStatus();
  }
  Status PutAttribute(const std::shared_ptr<Graph>& value, const Numbers& numbers) {
    return WriteNested(*value, numbers);
  }
  template <typename T>
  Status PutAttribute(const std::vector<T>& list, const Numbers& numbers) {
    out_.Put<uint64_t>(list.size());
    for (const T& item : list) KHEYA_RETURN_IF_ERROR(PutAttribute(item, numbers));
    return OkStatus();
  }

  ConstantWriter* const constants_;
  ByteWriter out_;
  std::unordered_map<std::string, uint32_t> shared_;
};

class GraphReader {
 public:
  GraphReader(std::span<const std::byte> bytes, std::span<const PackageConstant> constants)
      : in_(bytes), constants_(constants) {}

  Result<Graph> Read() {
    KHEYA_ASSIGN_OR_RETURN(Graph graph, ReadNested({}));
    KHEYA_RETURN_IF_ERROR(in_.Finish());
    KHEYA_RETURN_IF_ERROR(Verify(graph));
    return graph;
  }

 private:
  using Values = std::vector<ValueId>;

  static Status Wrong(std::string_view what) { return InvalidArgumentError("{}", what); }

  Result<std::string> GetShared() {
    const auto number = in_.Get<uint32_t>();
    if (number > shared_.size() || !in_.ok()) return Wrong("a text that was not there before");
    if (number == shared_.size()) shared_.emplace_back(in_.GetText());
    return shared_[number];
  }

  // Types are few and parsed once each.
  Result<ValueType> GetType() {
    KHEYA_ASSIGN_OR_RETURN(std::string text, GetShared());
    const auto found = types_.find(text);
    if (found != types_.end()) return found->second;
    KHEYA_ASSIGN_OR_RETURN(ValueType type, ValueType::Parse(text));
    return types_.emplace(std::move(text), std::move(type)).first->second;
  }

  std::string GetString() { return std::string(in_.GetText()); }

  Pairs GetPairs() {
    Pairs pairs(in_.GetCount(16));
    for (auto& [key, value] : pairs) {
      key = GetString();
      value = GetString();
    }
    return pairs;
  }

  void GetFacts(Graph& graph) {
    graph.set_name(GetString());
    graph.producer = GetString();
    graph.model_domain = GetString();
    graph.model_version = in_.Get<int64_t>();
    graph.doc = GetString();
    graph.declared_opsets.resize(in_.GetCount(16));
    for (auto& [domain, version] : graph.declared_opsets) {
      domain = GetString();
      version = in_.Get<int64_t>();
    }
    graph.metadata() = GetPairs();
    graph.graph_metadata = GetPairs();
    graph.default_inputs.resize(in_.GetCount(8));
    for (std::string& name : graph.default_inputs) name = GetString();
  }

  Status CheckName(const Graph& graph, ValueId id, std::string_view name) {
    if (in_.ok() && graph.value(id).name == name) return OkStatus();
    return Wrong("a name without text or used twice");
  }

  static Result<ValueId> ValueOf(const Values& values, uint32_t number) {
    if (number == kNone) return ValueId();
    if (number >= values.size()) return Wrong("a value that was not there before");
    return values[number];
  }

  Result<Tensor> GetConstant() {
    const auto number = in_.Get<uint32_t>();
    if (!in_.ok() || number >= constants_.size()) return Wrong("a constant that is not there");
    return constants_[number].tensor;
  }

  Status GetSources(Graph& graph, const Values& outer, Values* values) {
    for (size_t count = in_.GetCount(12); count > 0; --count) {
      const std::string name = GetString();
      KHEYA_ASSIGN_OR_RETURN(ValueType type, GetType());
      values->push_back(graph.AddInput(name, std::move(type)));
      KHEYA_RETURN_IF_ERROR(CheckName(graph, values->back(), name));
    }
    for (size_t count = in_.GetCount(16); count > 0; --count) {
      const std::string name = GetString();
      KHEYA_ASSIGN_OR_RETURN(ValueType type, GetType());
      KHEYA_ASSIGN_OR_RETURN(const ValueId from, ValueOf(outer, in_.Get<uint32_t>()));
      if (!from.valid()) return Wrong("a capture of nothing");
      values->push_back(graph.AddCapture(name, from, std::move(type)));
      KHEYA_RETURN_IF_ERROR(CheckName(graph, values->back(), name));
    }
    for (size_t count = in_.GetCount(16); count > 0; --count) {
      const std::string name = GetString();
      KHEYA_RETURN_IF_ERROR(GetType().status());  // the tensor says it
      KHEYA_ASSIGN_OR_RETURN(Tensor tensor, GetConstant());
      values->push_back(graph.AddConstant(name, std::move(tensor)));
      KHEYA_RETURN_IF_ERROR(CheckName(graph, values->back(), name));
    }
    return OkStatus();
  }

  Result<Graph> ReadNested(const Values& outer) {
    if (++depth_ > kMaxSubgraphDepth) return Wrong("graphs nested too deep");
    Graph graph;
    GetFacts(graph);
    Values values;
    KHEYA_RETURN_IF_ERROR(GetSources(graph, outer, &values));
    const size_t nodes = in_.GetCount(32);
    nodes_ += static_cast<int64_t>(nodes);
    if (nodes_ > limits::kNodes) {
      return ResourceExhaustedError("found more than {} nodes", limits::kNodes);
    }
    for (size_t i = 0; i < nodes; ++i) KHEYA_RETURN_IF_ERROR(GetNode(graph, &values));
    for (size_t count = in_.GetCount(12); count > 0; --count) {
      std::string name = GetString();
      KHEYA_ASSIGN_OR_RETURN(const ValueId value, ValueOf(values, in_.Get<uint32_t>()));
      if (!value.valid()) return Wrong("an output of nothing");
      graph.AddOutput(std::move(name), value);
    }
    if (!in_.ok()) return Wrong("it is cut");
    --depth_;
    return graph;
  }

  Status GetNode(Graph& graph, Values* values) {
    NodeSpec spec;
    KHEYA_ASSIGN_OR_RETURN(spec.op, GetShared());
    KHEYA_ASSIGN_OR_RETURN(spec.domain, GetShared());
    spec.name = GetString();
    for (size_t count = in_.GetCount(4); count > 0; --count) {
      KHEYA_ASSIGN_OR_RETURN(const ValueId input, ValueOf(*values, in_.Get<uint32_t>()));
      spec.inputs.push_back(input);
    }
    for (size_t count = in_.GetCount(6); count > 0; --count) {
      Attribute attribute;
      KHEYA_ASSIGN_OR_RETURN(attribute.name, GetShared());
      KHEYA_ASSIGN_OR_RETURN(attribute.value, GetAttribute(in_.Get<uint8_t>(), *values));
      spec.attributes.push_back(std::move(attribute));
    }
    std::vector<ValueType> types;
    for (size_t count = in_.GetCount(1); count > 0; --count) {
      spec.outputs.emplace_back();
      types.emplace_back();
      if (in_.Get<uint8_t>() == 0) continue;
      spec.outputs.back() = GetString();
      KHEYA_ASSIGN_OR_RETURN(types.back(), GetType());
      if (spec.outputs.back().empty()) return Wrong("an output without a name");
    }
    if (!in_.ok()) return Wrong("it is cut");
    const std::vector<std::string> names = spec.outputs;
    KHEYA_ASSIGN_OR_RETURN(const NodeId id, graph.AddNode(std::move(spec)));
    for (size_t i = 0; i < names.size(); ++i) {
      const ValueId output = graph.node(id).outputs[i];
      if (!output.valid()) continue;
      KHEYA_RETURN_IF_ERROR(CheckName(graph, output, names[i]));
      graph.SetType(output, std::move(types[i]));
      values->push_back(output);
    }
    return OkStatus();
  }

  template <typename T>
  Result<T> GetItem(const Values& values) {
    if constexpr (std::is_arithmetic_v<T>) {
      return in_.Get<T>();
    } else if constexpr (std::is_same_v<T, std::string>) {
      return GetString();
    } else if constexpr (std::is_same_v<T, Tensor>) {
      return GetConstant();
    } else if constexpr (std::is_same_v<T, ValueType>) {
      return GetType();
    } else {
      KHEYA_ASSIGN_OR_RETURN(Graph graph, ReadNested(values));
      return std::make_shared<Graph>(std::move(graph));
    }
  }

  template <typename T>
  Result<AttributeValue> GetOne(const Values& values) {
    KHEYA_ASSIGN_OR_RETURN(T item, GetItem<T>(values));
    return AttributeValue(std::move(item));
  }

  template <typename T>
  Result<AttributeValue> GetList(const Values& values) {
    std::vector<T> list;
    for (size_t count = in_.GetCount(4); count > 0; --count) {
      KHEYA_ASSIGN_OR_RETURN(T item, GetItem<T>(values));
      list.push_back(std::move(item));
    }
    return AttributeValue(std::move(list));
  }

  Result<AttributeValue> GetAttribute(uint8_t kind, const Values& values) {
    switch (static_cast<AttributeKind>(kind)) {
      case AttributeKind::kInt:
        return GetOne<int64_t>(values);
      case AttributeKind::kFloat:
        return GetOne<float>(values);
      case AttributeKind::kString:
        return GetOne<std::string>(values);
      case AttributeKind::kTensor:
        return GetOne<Tensor>(values);
      case AttributeKind::kGraph:
        return GetOne<std::shared_ptr<Graph>>(values);
      case AttributeKind::kType:
        return GetOne<ValueType>(values);
      case AttributeKind::kInts:
        return GetList<int64_t>(values);
      case AttributeKind::kFloats:
        return GetList<float>(values);
      case AttributeKind::kStrings:
        return GetList<std::string>(values);
      case AttributeKind::kTensors:
        return GetList<Tensor>(values);
      case AttributeKind::kGraphs:
        return GetList<std::shared_ptr<Graph>>(values);
      case AttributeKind::kTypes:
        return GetList<ValueType>(values);
    }
    return Wrong("an attribute of no known kind");
  }

  ByteReader in_;
  const std::span<const PackageConstant> constants_;
  std::vector<std::string> shared_;
  std::unordered_map<std::string, ValueType> types_;
  int depth_ = 0;
  int64_t nodes_ = 0;
};

}  // namespace

Result<std::string> WriteGraph(const Graph& graph, ConstantWriter* constants) {
  GraphWriter writer(constants);
  KHEYA_RETURN_IF_ERROR(writer.Write(graph));
  return writer.bytes();
}

Result<Graph> ReadGraph(std::span<const std::byte> bytes,
                        std::span<const PackageConstant> constants) {
  Result<Graph> graph = GraphReader(bytes, constants).Read();
  if (!graph.ok()) return std::move(graph).status().WithContext("graph");
  return graph;
}

}  // namespace kheya
