// NodeOrder: nodes of a file in an order where producers come before users.
#ifndef KHEYA_FORMATS_ONNX_NODE_ORDER_H_
#define KHEYA_FORMATS_ONNX_NODE_ORDER_H_

#include <span>
#include <vector>

#include "base/status.h"
#include "formats/onnx/proto.h"

namespace kheya::onnx {

// Indices into `nodes`: the file's order when that is right, else the nearest right one. Values
// that subgraphs use count; names that no node makes are ignored. InvalidArgument when two nodes
// make one value or when nodes are on a cycle.
Result<std::vector<int32_t>> NodeOrder(std::span<const NodeProto> nodes);

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_NODE_ORDER_H_
