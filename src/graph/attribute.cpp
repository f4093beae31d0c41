#include "graph/attribute.h"

namespace kheya {

const char* AttributeKindName(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInt:
      return "int";
    case AttributeKind::kFloat:
      return "float";
    case AttributeKind::kString:
      return "string";
    case AttributeKind::kTensor:
      return "tensor";
    case AttributeKind::kGraph:
      return "graph";
    case AttributeKind::kType:
      return "type";
    case AttributeKind::kInts:
      return "ints";
    case AttributeKind::kFloats:
      return "floats";
    case AttributeKind::kStrings:
      return "strings";
    case AttributeKind::kTensors:
      return "tensors";
    case AttributeKind::kGraphs:
      return "graphs";
    case AttributeKind::kTypes:
      return "types";
  }
  return "unknown";
}

}  // namespace kheya
