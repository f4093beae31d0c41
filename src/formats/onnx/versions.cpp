#include "formats/onnx/versions.h"

#include <algorithm>
#include <utility>

namespace kheya::onnx {
namespace {

// IR version and its newest opset.
constexpr std::pair<int64_t, int64_t> kOpsetOfIr[] = {{3, 8},   {4, 9},   {5, 10},  {6, 11},
                                                      {7, 14},  {8, 18},  {9, 20},  {10, 22},
                                                      {11, 23}, {12, 24}, {13, 26}, {14, 28}};

// The first IR version with an element type.
int64_t IrOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
      return 9;
    case DType::kUint4:
    case DType::kInt4:
      return 10;
    case DType::kFloat4E2M1:
      return 11;
    case DType::kFloat8E8M0:
      return 12;
    case DType::kUint2:
    case DType::kInt2:
      return 13;
    case DType::kFloat6E2M3:
    case DType::kFloat6E3M2:
      return 14;
    default:
      return 1;
  }
}

}  // namespace

int64_t NewestOpset(int64_t ir_version) {
  int64_t version = 1;
  for (const auto& [ir, opset] : kOpsetOfIr) {
    if (ir <= ir_version) version = opset;
  }
  return version;
}

int64_t IrVersion(int64_t opset, const std::set<DType>& dtypes) {
  int64_t version = std::rbegin(kOpsetOfIr)->first;
  for (const auto& [ir, newest] : kOpsetOfIr) {
    if (newest < opset) continue;
    version = ir;
    break;
  }
  for (DType dtype : dtypes) version = std::max(version, IrOf(dtype));
  return version;
}

int64_t DomainVersion(const Graph& graph, const std::string& domain) {
  for (const auto& [declared, version] : graph.declared_opsets) {
    if (declared == domain) return version;
  }
  return 1;
}

}  // namespace kheya::onnx
