// Attribute: a named constant of a node, of one of ONNX's kinds.
#ifndef KHEYA_GRAPH_ATTRIBUTE_H_
#define KHEYA_GRAPH_ATTRIBUTE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tensor.h"
#include "tensor/value.h"

namespace kheya {

class Graph;

// The order of the alternatives is the order of AttributeKind.
using AttributeValue =
    std::variant<int64_t, float, std::string, Tensor, std::shared_ptr<Graph>, ValueType,
                 std::vector<int64_t>, std::vector<float>, std::vector<std::string>,
                 std::vector<Tensor>, std::vector<std::shared_ptr<Graph>>, std::vector<ValueType>>;

enum class AttributeKind : uint8_t {
  kInt,
  kFloat,
  kString,
  kTensor,
  kGraph,
  kType,
  kInts,
  kFloats,
  kStrings,
  kTensors,
  kGraphs,
  kTypes,
};

const char* AttributeKindName(AttributeKind kind);  // "int", "floats", ...

struct Attribute {
  std::string name;
  AttributeValue value;

  AttributeKind kind() const { return static_cast<AttributeKind>(value.index()); }
};

}  // namespace kheya

#endif  // KHEYA_GRAPH_ATTRIBUTE_H_
