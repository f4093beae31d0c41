// ProtoParser: fills the structs of proto.h, counting what the limits count.
#ifndef KHEYA_FORMATS_ONNX_PROTO_PARSER_H_
#define KHEYA_FORMATS_ONNX_PROTO_PARSER_H_

#include <string_view>
#include <vector>

#include "base/status.h"
#include "formats/limits.h"
#include "formats/onnx/proto.h"
#include "formats/wire/protobuf_reader.h"

namespace kheya::onnx {

class ProtoParser {
 public:
  Status Parse(ProtobufReader reader, ModelProto& model);
  Status Parse(ProtobufReader reader, TensorProto& tensor);
  Status Parse(ProtobufReader reader, SparseTensorProto& tensor);
  Status Parse(ProtobufReader reader, ValueType& type);

 private:
  // What is left of a limit.
  struct Quota {
    const char* name;
    int64_t limit;
    int64_t used = 0;
    Status Take();
  };

  Status Parse(ProtobufReader reader, GraphProto& graph);
  Status Parse(ProtobufReader reader, NodeProto& node);
  Status Parse(ProtobufReader reader, AttributeProto& attribute);
  Status Parse(ProtobufReader reader, FunctionProto& function);
  Status Parse(ProtobufReader reader, ValueInfoProto& info);
  Status Parse(ProtobufReader reader, OpsetImport& opset);
  Status ParseAttributeList(const ProtobufReader& reader, const WireField& field,
                            AttributeProto& attribute);
  Status ParseEntry(const ProtobufReader& reader, const WireField& field, Entries& entries);
  Status ParseTensorType(ProtobufReader reader, ValueType& type);
  Status ParseShape(ProtobufReader reader, SymbolicShape& shape);
  Result<Dim> ParseDim(ProtobufReader reader);
  Result<ValueType> ParseElementType(ProtobufReader reader, uint32_t element_field, int64_t* key);
  // The field as a message of type T: parsed into `out`.
  template <typename T>
  Status ParseField(const ProtobufReader& reader, const WireField& field, T& out);
  template <typename T>
  Status Append(const ProtobufReader& reader, const WireField& field, Quota& quota,
                std::vector<T>& out);
  Status AppendName(const ProtobufReader& reader, const WireField& field, Names& out);
  // A valid UTF-8 string of at most kNameBytes.
  Status ReadName(const ProtobufReader& reader, const WireField& field, std::string_view& out);
  Status ReadInt(const ProtobufReader& reader, const WireField& field, int64_t& out);
  Status ReadDims(const ProtobufReader& reader, const WireField& field, std::vector<int64_t>& out);

  Quota nodes_{"nodes", limits::kNodes};
  Quota attributes_{"attributes", limits::kAttributes};
  Quota names_{"names of inputs and outputs", limits::kNames};
  Quota tensors_{"tensors", limits::kTensors};
  Quota types_{"declared values", limits::kTypes};
  Quota values_{"values in attributes", limits::kAttributeValues};
  Quota functions_{"functions", limits::kFunctions};
  Quota metadata_{"metadata entries", limits::kMetadata};
  int graph_depth_ = 0;
  int type_depth_ = 0;
};

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_PROTO_PARSER_H_
