#include "kernels/reference/movement.h"

#include <algorithm>
#include <cstring>

namespace kheya::kernels {
namespace {

// Counts `index` up through `dims`, last axis first; false after the last.
bool NextIndex(std::span<const int64_t> dims, std::vector<int64_t>& index) {
  for (size_t axis = dims.size(); axis-- > 0;) {
    if (++index[axis] < dims[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

template <typename T>
void CopyStridedTyped(const StridedRead& read, const T* in, std::span<T> out) {
  if (out.empty()) return;
  if (read.dims.empty()) {
    out[0] = in[read.offset];
    return;
  }
  const size_t last = read.dims.size() - 1;
  const std::span<const int64_t> outer(read.dims.data(), last);
  std::vector<int64_t> index(last, 0);
  size_t at = 0;
  do {
    const T* row = in + read.offset;
    for (size_t axis = 0; axis < last; ++axis) row += index[axis] * read.strides[axis];
    for (int64_t i = 0; i < read.dims[last]; ++i) out[at++] = row[i * read.strides[last]];
  } while (NextIndex(outer, index));
}

template <typename T>
void CopyMappedTyped(std::span<const std::vector<int64_t>> maps, const TensorView& in,
                     const T* fill, const MutableTensorView& out) {
  const auto strides = StridesOf(in.shape);
  const T* from = in.as<T>().data();
  std::vector<int64_t> index(maps.size(), 0);
  for (T& value : out.as<T>()) {
    int64_t offset = 0;
    bool inside = true;
    for (size_t axis = 0; axis < maps.size(); ++axis) {
      const int64_t mapped = maps[axis][index[axis]];
      inside = inside && mapped >= 0;
      offset += mapped * strides[axis];
    }
    value = inside ? from[offset] : *fill;
    NextIndex(out.shape.dims(), index);
  }
}

}  // namespace

void CopyElements(const TensorView& from, int64_t from_index, const MutableTensorView& to,
                  int64_t to_index, int64_t count) {
  if (count == 0) return;
  if (from.dtype == DType::kString) {
    std::copy_n(static_cast<const std::string*>(from.data) + from_index, count,
                static_cast<std::string*>(to.data) + to_index);
    return;
  }
  const size_t size = BytesFor(from.dtype, 1);
  std::memcpy(static_cast<std::byte*>(to.data) + to_index * size,
              static_cast<const std::byte*>(from.data) + from_index * size, count * size);
}

Status CopyStrided(const StridedRead& read, const TensorView& in, const MutableTensorView& out) {
  return CallWithElement(out.dtype, [&]<typename T>(const T&) {
    CopyStridedTyped(read, static_cast<const T*>(in.data), out.as<T>());
  });
}

Status CopyMapped(std::span<const std::vector<int64_t>> maps, const TensorView& in,
                  const TensorView& fill, const MutableTensorView& out) {
  return CallWithElement(out.dtype, [&]<typename T>(const T&) {
    CopyMappedTyped(maps, in, static_cast<const T*>(fill.data), out);
  });
}

Status FillWith(const TensorView& value, const MutableTensorView& out) {
  return CallWithElement(out.dtype, [&]<typename T>(const T&) {
    std::ranges::fill(out.as<T>(), *static_cast<const T*>(value.data));
  });
}

}  // namespace kheya::kernels
