#include "kernels/call.h"

#include <algorithm>

namespace kheya {

std::vector<int64_t> MemoryDims(const TensorDesc& desc) {
  std::vector<int64_t> dims(desc.shape.begin(), desc.shape.end());
  if (desc.layout == Layout::kChannelsLast && dims.size() > 2) {
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  }
  return dims;
}

bool LayoutsCoincide(const Shape& shape) {
  return shape.rank() < 3 || shape[1] == 1 || shape.Product(2, shape.rank()) == 1;
}

bool KernelCall::All(DType dtype) const {
  const auto matches = [dtype](const TensorDesc& desc) {
    return !desc.present() || desc.dtype == dtype;
  };
  return std::all_of(inputs.begin(), inputs.end(), matches) &&
         std::all_of(outputs.begin(), outputs.end(), matches);
}

}  // namespace kheya
