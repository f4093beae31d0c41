// What each version of an operator of ai.onnx takes, as the ONNX standard says: for writing models
// of older opsets.
#ifndef KHEYA_FORMATS_ONNX_SCHEMAS_H_
#define KHEYA_FORMATS_ONNX_SCHEMAS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"

namespace kheya::onnx {

struct SchemaParam {
  // Bit n: the element type with number n of TensorProto.DataType; bit 31: what is no tensor.
  uint32_t types = 0;
  bool optional = false;
  bool variadic = false;
};

struct Schema {
  int64_t since = 0;
  std::vector<SchemaParam> inputs;
  std::vector<SchemaParam> outputs;
  // By name: "" or the default, "i-1", "f0.5" or "slinear".
  std::map<std::string_view, std::string_view> attributes;
};

// The version of the operator that an opset from kOldestExportOpset on has; null: none.
const Schema* FindSchema(std::string_view op, int64_t opset);

// Ok when a node is written right at the schema: inputs and outputs, with their types as far as
// they are known, and attributes. Unimplemented says what does not fit.
Status CheckSchema(const Graph& graph, const Node& node, const Schema& schema);

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_SCHEMAS_H_
