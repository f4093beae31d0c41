// The messages of onnx.proto as light structs of views into the file, as far as import needs them.
// Nothing is checked but the wire format, UTF-8 of names, and the limits; tensors' data is not
// read. Views live as long as the bytes given to ParseModel.
#ifndef KHEYA_FORMATS_ONNX_PROTO_H_
#define KHEYA_FORMATS_ONNX_PROTO_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "formats/wire/protobuf_reader.h"
#include "tensor/value.h"

namespace kheya::onnx {

using Names = std::vector<std::string_view>;
using Entries = std::vector<std::pair<std::string_view, std::string_view>>;

struct TensorProto {
  std::string_view name;
  std::vector<int64_t> dims;
  int64_t data_type = 0;
  std::optional<ByteSpan> raw_data;
  bool external = false;
  Entries external_data;  // location, offset, length, checksum
  bool has_segment = false;
  ByteSpan message;  // the whole message: typed data are read from it when they are needed
};

struct SparseTensorProto {
  TensorProto values;
  TensorProto indices;
  std::vector<int64_t> dims;
};

struct GraphProto;

// AttributeProto.AttributeType.
enum class AttributeType : int {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kType = 13,
  kTypes = 14,
};

struct AttributeProto {
  std::string_view name;
  std::string_view ref_name;  // in functions: the attribute of the call that gives the value
  int64_t type = 0;           // AttributeType, or any other number
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  Names strings;
  std::vector<TensorProto> tensors;                 // `t` too
  std::vector<std::unique_ptr<GraphProto>> graphs;  // `g` too
  std::unique_ptr<SparseTensorProto> sparse;
  std::vector<ValueType> types;  // `tp` too
};

struct NodeProto {
  std::string_view name;
  std::string_view op;
  std::string_view domain;  // "ai.onnx" is ""
  std::string_view overload;
  Names inputs;
  Names outputs;
  std::vector<AttributeProto> attributes;
  ByteSpan message;
};

struct ValueInfoProto {
  std::string_view name;
  ValueType type;
  ByteSpan message;
};

struct GraphProto {
  std::string_view name;
  std::string_view doc_string;
  Entries metadata;
  std::vector<NodeProto> nodes;
  std::vector<TensorProto> initializers;
  std::vector<SparseTensorProto> sparse_initializers;
  std::vector<ValueInfoProto> inputs;
  std::vector<ValueInfoProto> outputs;
  std::vector<ValueInfoProto> value_infos;
  // Sorted: what nodes and outputs use and nothing in this graph makes.
  Names free_names;
};

struct OpsetImport {
  std::string_view domain;  // "ai.onnx" is ""
  int64_t version = 0;
};

struct FunctionProto {
  std::string_view name;
  std::string_view domain;
  std::string_view overload;
  Names inputs;
  Names outputs;
  Names attributes;
  std::vector<AttributeProto> default_attributes;
  std::vector<NodeProto> nodes;
  std::vector<OpsetImport> opsets;
};

struct ModelProto {
  int64_t ir_version = 0;
  std::string_view producer_name;
  std::string_view producer_version;
  std::string_view domain;
  int64_t version = 0;
  std::string_view doc_string;
  std::vector<OpsetImport> opsets;
  std::optional<GraphProto> graph;
  Entries metadata;
  std::vector<FunctionProto> functions;
  bool has_training_info = false;
};

// InvalidArgument for bytes that are not a model; ResourceExhausted past a limit.
Result<ModelProto> ParseModel(ByteSpan bytes);
Result<TensorProto> ParseTensor(ByteSpan bytes);

// A name in an error: cut and in quotes.
std::string Quote(std::string_view name);
// "node 'conv1' (Conv)"; with the first output where the node has no name.
std::string Describe(const NodeProto& node);

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_PROTO_H_
