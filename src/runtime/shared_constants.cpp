#include "runtime/shared_constants.h"

#include <cstring>
#include <memory>
#include <utility>

#include "kernels/portable/bf16.h"

namespace kheya {
namespace {

constexpr size_t kLeastShared = 16 * 1024;  // smaller ones are not worth a hash

}  // namespace

Result<Tensor> ReadableConstant(const Tensor& constant, bool narrow, PackCache* cache) {
  if (!narrow && constant.aligned()) return constant;
  const DType dtype = narrow ? DType::kBFloat16 : constant.dtype();
  const size_t bytes = BytesFor(dtype, constant.num_elements());
  const auto copy = [&]() -> Result<Buffer> {
    KHEYA_ASSIGN_OR_RETURN(Buffer buffer,
                           Buffer::Allocate(bytes, cache != nullptr ? cache->budget() : nullptr));
    if (!narrow) {
      std::memcpy(buffer.data(), constant.bytes().data(), bytes);
      return buffer;
    }
    KHEYA_ASSIGN_OR_RETURN(const Tensor aligned, constant.Aligned());
    simd::Narrow(aligned.data<float>().data(), reinterpret_cast<uint16_t*>(buffer.data()),
                 aligned.num_elements());
    return buffer;
  };
  std::shared_ptr<const Buffer> made;
  if (cache != nullptr && bytes >= kLeastShared) {
    KHEYA_ASSIGN_OR_RETURN(made, cache->Share(constant, narrow ? "bf16" : "aligned", bytes, copy));
  } else {
    KHEYA_ASSIGN_OR_RETURN(Buffer buffer, copy());
    made = std::make_shared<const Buffer>(std::move(buffer));
  }
  return Tensor::Borrow(dtype, constant.shape(), made->bytes(), made);
}

}  // namespace kheya
