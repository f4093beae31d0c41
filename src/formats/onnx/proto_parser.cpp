#include "formats/onnx/proto_parser.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "base/string_util.h"
#include "graph/verify.h"
#include "tensor/shape.h"

namespace kheya::onnx {
namespace {

std::string_view CanonicalDomain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

// What the nodes and outputs of `graph` use and nothing in it makes.
Names FindFreeNames(const GraphProto& graph) {
  std::unordered_set<std::string_view> made;
  for (const ValueInfoProto& input : graph.inputs) made.insert(input.name);
  for (const TensorProto& tensor : graph.initializers) made.insert(tensor.name);
  for (const SparseTensorProto& tensor : graph.sparse_initializers) {
    made.insert(tensor.values.name);
  }
  for (const NodeProto& node : graph.nodes) {
    made.insert(node.outputs.begin(), node.outputs.end());
  }
  Names names;
  auto use = [&](std::string_view name) {
    if (!name.empty() && !made.contains(name)) names.push_back(name);
  };
  for (const NodeProto& node : graph.nodes) {
    std::for_each(node.inputs.begin(), node.inputs.end(), use);
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& subgraph : attribute.graphs) {
        std::for_each(subgraph->free_names.begin(), subgraph->free_names.end(), use);
      }
    }
  }
  for (const ValueInfoProto& output : graph.outputs) use(output.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

Status ProtoParser::Quota::Take() {
  if (++used <= limit) return OkStatus();
  return ResourceExhaustedError("found more than {} {}", limit, name);
}

template <typename T>
Status ProtoParser::ParseField(const ProtobufReader& reader, const WireField& field, T& out) {
  KHEYA_ASSIGN_OR_RETURN(ProtobufReader message, reader.Message(field));
  return Parse(std::move(message), out);
}

template <typename T>
Status ProtoParser::Append(const ProtobufReader& reader, const WireField& field, Quota& quota,
                           std::vector<T>& out) {
  KHEYA_RETURN_IF_ERROR(quota.Take());
  return ParseField(reader, field, out.emplace_back());
}

Status ProtoParser::ReadName(const ProtobufReader& reader, const WireField& field,
                             std::string_view& out) {
  KHEYA_ASSIGN_OR_RETURN(const std::string_view name, reader.String(field));
  if (name.size() > limits::kNameBytes) {
    return ResourceExhaustedError("found a name of {} bytes at byte {}, expected at most {}",
                                  name.size(), field.offset, limits::kNameBytes);
  }
  if (!IsValidUtf8(name)) {
    return InvalidArgumentError("found a name that is not UTF-8 at byte {}", field.offset);
  }
  out = name;
  return OkStatus();
}

Status ProtoParser::AppendName(const ProtobufReader& reader, const WireField& field, Names& out) {
  KHEYA_RETURN_IF_ERROR(names_.Take());
  return ReadName(reader, field, out.emplace_back());
}

Status ProtoParser::ReadInt(const ProtobufReader& reader, const WireField& field, int64_t& out) {
  KHEYA_ASSIGN_OR_RETURN(out, reader.Int64(field));
  return OkStatus();
}

Status ProtoParser::ReadDims(const ProtobufReader& reader, const WireField& field,
                             std::vector<int64_t>& out) {
  KHEYA_RETURN_IF_ERROR(reader.VisitVarints(field, [&](uint64_t value) {
    if (out.size() <= kMaxRank) out.push_back(static_cast<int64_t>(value));
  }));
  if (out.size() <= kMaxRank) return OkStatus();
  return ResourceExhaustedError("found a tensor of more than {} dimensions at byte {}", kMaxRank,
                                field.offset);
}

Status ProtoParser::ParseEntry(const ProtobufReader& reader, const WireField& field,
                               Entries& entries) {
  KHEYA_RETURN_IF_ERROR(metadata_.Take());
  KHEYA_ASSIGN_OR_RETURN(ProtobufReader message, reader.Message(field));
  auto& [key, value] = entries.emplace_back();
  for (WireField part; message.Next(part);) {
    if (part.number != 1 && part.number != 2) continue;
    std::string_view& text = part.number == 1 ? key : value;
    KHEYA_ASSIGN_OR_RETURN(text, message.String(part));
    if (text.size() > limits::kMetadataBytes) {
      return ResourceExhaustedError("found a metadata text of {} bytes, expected at most {}",
                                    text.size(), limits::kMetadataBytes);
    }
    if (!IsValidUtf8(text)) {
      return InvalidArgumentError("found a metadata text that is not UTF-8 at byte {}",
                                  part.offset);
    }
  }
  return message.status();
}

Status ProtoParser::Parse(ProtobufReader reader, ModelProto& model) {
  for (WireField field; reader.Next(field);) {
    switch (field.number) {
      case 1:
        KHEYA_RETURN_IF_ERROR(ReadInt(reader, field, model.ir_version));
        break;
      case 2:
        KHEYA_RETURN_IF_ERROR(ReadName(reader, field, model.producer_name));
        break;
      case 3:
        KHEYA_RETURN_IF_ERROR(ReadName(reader, field, model.producer_version));
        break;
      case 4:
        KHEYA_RETURN_IF_ERROR(ReadName(reader, field, model.domain));
        break;
      case 5:
        KHEYA_RETURN_IF_ERROR(ReadInt(reader, field, model.version));
        break;
      case 6: {
        KHEYA_ASSIGN_OR_RETURN(model.doc_string, reader.String(field));
        break;
      }
      case 7:
        if (!model.graph) model.graph.emplace();
        KHEYA_RETURN_IF_ERROR(ParseField(reader, field, *model.graph));
        break;
      case 8:
        KHEYA_RETURN_IF_ERROR(Append(reader, field, metadata_, model.opsets));
        break;
      case 14:
        KHEYA_RETURN_IF_ERROR(ParseEntry(reader, field, model.metadata));
        break;
      case 20:
        model.has_training_info = true;
        break;
      case 25:
        KHEYA_RETURN_IF_ERROR(Append(reader, field, functions_, model.functions));
        break;
      default:
        break;
    }
  }
  return reader.status();
}

Status ProtoParser::Parse(ProtobufReader reader, OpsetImport& opset) {
  for (WireField field; reader.Next(field);) {
    if (field.number == 1) KHEYA_RETURN_IF_ERROR(ReadName(reader, field, opset.domain));
    if (field.number == 2) KHEYA_RETURN_IF_ERROR(ReadInt(reader, field, opset.version));
  }
  opset.domain = CanonicalDomain(opset.domain);
  return reader.status();
}

Status ProtoParser::Parse(ProtobufReader reader, GraphProto& graph) {
  if (graph_depth_ > kMaxSubgraphDepth) {
    return ResourceExhaustedError("subgraphs are nested more than {} deep", kMaxSubgraphDepth);
  }
  ++graph_depth_;
  for (WireField field; reader.Next(field);) {
    switch (field.number) {
      case 1: {
        Status status = Append(reader, field, nodes_, graph.nodes);
        if (!status.ok()) return std::move(status).WithContext("{}", Describe(graph.nodes.back()));
        break;
      }
      case 2:
        KHEYA_RETURN_IF_ERROR(ReadName(reader, field, graph.name));
        break;
      case 5:
        KHEYA_RETURN_IF_ERROR(Append(reader, field, tensors_, graph.initializers));
        break;
      case 10: {
        KHEYA_ASSIGN_OR_RETURN(graph.doc_string, reader.String(field));
        break;
      }
      case 11:
        KHEYA_RETURN_IF_ERROR(Append(reader, field, types_, graph.inputs));
        break;
      case 12:
        KHEYA_RETURN_IF_ERROR(Append(reader, field, types_, graph.outputs));
        break;
      case 13:
        KHEYA_RETURN_IF_ERROR(Append(reader, field, types_, graph.value_infos));
        break;
      case 15:
        KHEYA_RETURN_IF_ERROR(Append(reader, field, tensors_, graph.sparse_initializers));
        break;
      case 16:
        KHEYA_RETURN_IF_ERROR(ParseEntry(reader, field, graph.metadata));
        break;
      default:
        break;
    }
  }
  --graph_depth_;
  graph.free_names = FindFreeNames(graph);
  return reader.status();
}

Status ProtoParser::Parse(ProtobufReader reader, NodeProto& node) {
  node.message = reader.message();
  for (WireField field; reader.Next(field);) {
    switch (field.number) {
      case 1:
        KHEYA_RETURN_IF_ERROR(AppendName(reader, field, node.inputs));
        break;
      case 2:
        KHEYA_RETURN_IF_ERROR(AppendName(reader, field, node.outputs));
        break;
      case 3:
        KHEYA_RETURN_IF_ERROR(ReadName(reader, field, node.name));
        break;
      case 4:
        KHEYA_RETURN_IF_ERROR(ReadName(reader, field, node.op));
        break;
      case 5: {
        Status status = Append(reader, field, attributes_, node.attributes);
        if (!status.ok()) {
          return std::move(status).WithContext("attribute {}", Quote(node.attributes.back().name));
        }
        break;
      }
      case 7:
        KHEYA_RETURN_IF_ERROR(ReadName(reader, field, node.domain));
        break;
      case 8:
        KHEYA_RETURN_IF_ERROR(ReadName(reader, field, node.overload));
        break;
      default:
        break;
    }
  }
  node.domain = CanonicalDomain(node.domain);
  return reader.status();
}

Status ProtoParser::Parse(ProtobufReader reader, AttributeProto& attribute) {
  for (WireField field; reader.Next(field);) {
    switch (field.number) {
      case 1:
        KHEYA_RETURN_IF_ERROR(ReadName(reader, field, attribute.name));
        break;
      case 2: {
        KHEYA_ASSIGN_OR_RETURN(attribute.f, reader.Float(field));
        break;
      }
      case 3:
        KHEYA_RETURN_IF_ERROR(ReadInt(reader, field, attribute.i));
        break;
      case 4: {
        KHEYA_ASSIGN_OR_RETURN(attribute.s, reader.String(field));
        break;
      }
      case 20:
        KHEYA_RETURN_IF_ERROR(ReadInt(reader, field, attribute.type));
        break;
      case 21:
        KHEYA_RETURN_IF_ERROR(ReadName(reader, field, attribute.ref_name));
        break;
      case 22:
        KHEYA_RETURN_IF_ERROR(tensors_.Take());
        attribute.sparse = std::make_unique<SparseTensorProto>();
        KHEYA_RETURN_IF_ERROR(ParseField(reader, field, *attribute.sparse));
        break;
      default:
        KHEYA_RETURN_IF_ERROR(ParseAttributeList(reader, field, attribute));
    }
  }
  return reader.status();
}

// The fields of an attribute that may come many times, and single messages, kept as lists too.
Status ProtoParser::ParseAttributeList(const ProtobufReader& reader, const WireField& field,
                                       AttributeProto& attribute) {
  Status full;
  switch (field.number) {
    case 5:
    case 10:
      return Append(reader, field, tensors_, attribute.tensors);
    case 6:
    case 11:
      return ParseField(reader, field,
                        *attribute.graphs.emplace_back(std::make_unique<GraphProto>()));
    case 7:
      KHEYA_RETURN_IF_ERROR(reader.VisitFixed32(field, [&](uint32_t bits) {
        if (full.ok()) full = values_.Take();
        if (full.ok()) attribute.floats.push_back(std::bit_cast<float>(bits));
      }));
      return full;
    case 8:
      KHEYA_RETURN_IF_ERROR(reader.VisitVarints(field, [&](uint64_t value) {
        if (full.ok()) full = values_.Take();
        if (full.ok()) attribute.ints.push_back(static_cast<int64_t>(value));
      }));
      return full;
    case 9: {
      KHEYA_RETURN_IF_ERROR(values_.Take());
      KHEYA_ASSIGN_OR_RETURN(attribute.strings.emplace_back(), reader.String(field));
      return OkStatus();
    }
    case 14:
    case 15:
      return Append(reader, field, types_, attribute.types);
    default:
      return OkStatus();
  }
}

Status ProtoParser::Parse(ProtobufReader reader, FunctionProto& function) {
  for (WireField field; reader.Next(field);) {
    switch (field.number) {
      case 1:
        KHEYA_RETURN_IF_ERROR(ReadName(reader, field, function.name));
        break;
      case 4:
        KHEYA_RETURN_IF_ERROR(AppendName(reader, field, function.inputs));
        break;
      case 5:
        KHEYA_RETURN_IF_ERROR(AppendName(reader, field, function.outputs));
        break;
      case 6:
        KHEYA_RETURN_IF_ERROR(AppendName(reader, field, function.attributes));
        break;
      case 7:
        KHEYA_RETURN_IF_ERROR(Append(reader, field, nodes_, function.nodes));
        break;
      case 9:
        KHEYA_RETURN_IF_ERROR(Append(reader, field, metadata_, function.opsets));
        break;
      case 10:
        KHEYA_RETURN_IF_ERROR(ReadName(reader, field, function.domain));
        break;
      case 11:
        KHEYA_RETURN_IF_ERROR(Append(reader, field, attributes_, function.default_attributes));
        break;
      case 13:
        KHEYA_RETURN_IF_ERROR(ReadName(reader, field, function.overload));
        break;
      default:
        break;
    }
  }
  function.domain = CanonicalDomain(function.domain);
  return reader.status();
}

Status ProtoParser::Parse(ProtobufReader reader, TensorProto& tensor) {
  tensor.message = reader.message();
  for (WireField field; reader.Next(field);) {
    switch (field.number) {
      case 1:
        KHEYA_RETURN_IF_ERROR(ReadDims(reader, field, tensor.dims));
        break;
      case 2:
        KHEYA_RETURN_IF_ERROR(ReadInt(reader, field, tensor.data_type));
        break;
      case 3:
        tensor.has_segment = true;
        break;
      case 8:
        KHEYA_RETURN_IF_ERROR(ReadName(reader, field, tensor.name));
        break;
      case 9: {
        KHEYA_ASSIGN_OR_RETURN(tensor.raw_data, reader.Bytes(field));
        break;
      }
      case 13:
        KHEYA_RETURN_IF_ERROR(ParseEntry(reader, field, tensor.external_data));
        break;
      case 14: {
        KHEYA_ASSIGN_OR_RETURN(const int64_t location, reader.Int64(field));
        tensor.external = location == 1;
        break;
      }
      default:
        break;
    }
  }
  return reader.status();
}

Status ProtoParser::Parse(ProtobufReader reader, SparseTensorProto& tensor) {
  for (WireField field; reader.Next(field);) {
    if (field.number == 1) KHEYA_RETURN_IF_ERROR(ParseField(reader, field, tensor.values));
    if (field.number == 2) KHEYA_RETURN_IF_ERROR(ParseField(reader, field, tensor.indices));
    if (field.number == 3) KHEYA_RETURN_IF_ERROR(ReadDims(reader, field, tensor.dims));
  }
  return reader.status();
}

}  // namespace kheya::onnx
