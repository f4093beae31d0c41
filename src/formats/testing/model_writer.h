// Small ONNX models written by hand, for tests: every function gives the bytes of one message,
// right or wrong as the test wants it.
#ifndef KHEYA_FORMATS_TESTING_MODEL_WRITER_H_
#define KHEYA_FORMATS_TESTING_MODEL_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/wire/protobuf_writer.h"
#include "tensor/tensor.h"

namespace kheya::test {

// AttributeProto.
std::string IntAttribute(std::string_view name, int64_t value);
std::string FloatAttribute(std::string_view name, float value);
std::string StringAttribute(std::string_view name, std::string_view value);
std::string IntsAttribute(std::string_view name, const std::vector<int64_t>& values);
std::string FloatsAttribute(std::string_view name, const std::vector<float>& values);
std::string StringsAttribute(std::string_view name, const std::vector<std::string>& values);
std::string TensorAttribute(std::string_view name, std::string_view tensor);
std::string GraphAttribute(std::string_view name, std::string_view graph);
std::string TypeAttribute(std::string_view name, std::string_view type);
std::string ReferenceAttribute(std::string_view name, std::string_view reference, int64_t type);

struct NodeText {
  std::string op;
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  std::vector<std::string> attributes = {};
  std::string name = {};
  std::string domain = {};
};
std::string NodeMessage(const NodeText& node);

// ValueInfoProto of a tensor. A negative dimension is written as the symbol "N".
std::string ValueMessage(std::string_view name, DType dtype, const std::vector<int64_t>& dims);
// ValueInfoProto that says nothing but the name.
std::string UntypedValueMessage(std::string_view name);
// TensorProto with raw data, whatever its size.
std::string RawTensorMessage(std::string_view name, int64_t data_type,
                             const std::vector<int64_t>& dims, std::string_view raw);
// TensorProto with external data, by key and value.
std::string ExternalTensorMessage(std::string_view name, DType dtype,
                                  const std::vector<int64_t>& dims,
                                  const std::vector<std::pair<std::string, std::string>>& entries);

struct GraphText {
  std::vector<std::string> nodes = {};
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  std::vector<std::string> initializers = {};
  std::vector<std::string> value_infos = {};
  std::string name = "g";
};
std::string GraphMessage(const GraphText& graph);

// ModelProto of IR version 8. Opset 0: no import. `functions` are FunctionProto messages.
std::string ModelMessage(std::string_view graph, int64_t opset,
                         const std::vector<std::string>& functions = {});
std::string FunctionMessage(std::string_view name, const std::vector<std::string>& inputs,
                            const std::vector<std::string>& outputs,
                            const std::vector<std::string>& nodes, int64_t opset);

}  // namespace kheya::test

#endif  // KHEYA_FORMATS_TESTING_MODEL_WRITER_H_
