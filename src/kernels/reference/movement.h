// Moving elements without looking at them, for every type.
// Callers have checked indices and sizes.
#ifndef KHEYA_KERNELS_REFERENCE_MOVEMENT_H_
#define KHEYA_KERNELS_REFERENCE_MOVEMENT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

struct Bits128 {
  uint64_t low = 0;
  uint64_t high = 0;
};

// Calls function(T{}) with a T that copies elements of `dtype`: an unsigned integer of its width,
// Bits128 or std::string. Unimplemented for types under 8 bits, whose elements share bytes.
template <typename Function>
Status CallWithElement(DType dtype, Function&& function) {
  if (dtype == DType::kString) {
    function(std::string());
    return OkStatus();
  }
  switch (GetDTypeInfo(dtype).bits) {
    case 8:
      function(uint8_t{});
      return OkStatus();
    case 16:
      function(uint16_t{});
      return OkStatus();
    case 32:
      function(uint32_t{});
      return OkStatus();
    case 64:
      function(uint64_t{});
      return OkStatus();
    case 128:
      function(Bits128{});
      return OkStatus();
    default:
      return UnimplementedError("found element type {}, which cannot be moved", DTypeName(dtype));
  }
}

// Copies `count` elements from index `from_index` of one tensor to `to_index` of another of the
// same type.
void CopyElements(const TensorView& from, int64_t from_index, const MutableTensorView& to,
                  int64_t to_index, int64_t count);

// out[i0, i1, ...] = in.data[offset + i0 * strides[0] + i1 * strides[1] + ...] for all indices
// below `dims`, out dense. Strides may be 0 or negative; more than kMaxRank dims are allowed.
struct StridedRead {
  int64_t offset = 0;
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
};
Status CopyStrided(const StridedRead& read, const TensorView& in, const MutableTensorView& out);

// out[i0, i1, ...] = in[maps[0][i0], maps[1][i1], ...], or `fill` (one element of the same type;
// its data may be null when no index is negative) where an index is negative. One map for each
// axis, as long as out's axis.
Status CopyMapped(std::span<const std::vector<int64_t>> maps, const TensorView& in,
                  const TensorView& fill, const MutableTensorView& out);

// Sets all elements to `value`, one element of the same type.
Status FillWith(const TensorView& value, const MutableTensorView& out);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_MOVEMENT_H_
