#include "kernels/reference/movement.h"

#include <algorithm>
#include <cstring>

#include "tensor/small_types.h"

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

bool SharesBytes(DType dtype) { return dtype != DType::kString && GetDTypeInfo(dtype).bits < 8; }

// The elements as bytes of their own.
std::vector<uint8_t> CodesOf(const TensorView& view) {
  std::vector<uint8_t> codes(static_cast<size_t>(view.num_elements()));
  for (size_t i = 0; i < codes.size(); ++i) {
    codes[i] = CodeAt(view.dtype, view.data, static_cast<int64_t>(i));
  }
  return codes;
}

// Fills memory whose last byte may have bits that belong to no element.
void PutCodes(const std::vector<uint8_t>& codes, const MutableTensorView& view) {
  std::memset(view.data, 0, view.num_bytes());
  for (size_t i = 0; i < codes.size(); ++i) {
    SetCode(view.dtype, view.data, static_cast<int64_t>(i), codes[i]);
  }
}

// Calls move(in, out) on views of bytes in place of elements that share bytes.
template <typename Move>
Status MoveCodes(const TensorView& in, const MutableTensorView& out, Move move) {
  const std::vector<uint8_t> from = CodesOf(in);
  std::vector<uint8_t> to(static_cast<size_t>(out.num_elements()));
  KHEYA_RETURN_IF_ERROR(move({DType::kUint8, in.shape, from.data()},
                             MutableTensorView{DType::kUint8, out.shape, to.data()}));
  if (!to.empty()) PutCodes(to, out);
  return OkStatus();
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
  if (SharesBytes(from.dtype)) {
    for (int64_t i = 0; i < count; ++i) {
      SetCode(to.dtype, to.data, to_index + i, CodeAt(from.dtype, from.data, from_index + i));
    }
    return;
  }
  const size_t size = BytesFor(from.dtype, 1);
  std::memcpy(static_cast<std::byte*>(to.data) + to_index * size,
              static_cast<const std::byte*>(from.data) + from_index * size, count * size);
}

Status CopyStrided(const StridedRead& read, const TensorView& in, const MutableTensorView& out) {
  if (SharesBytes(out.dtype)) {
    return MoveCodes(in, out, [&](const TensorView& from, const MutableTensorView& to) {
      return CopyStrided(read, from, to);
    });
  }
  return CallWithElement(out.dtype, [&]<typename T>(const T&) {
    CopyStridedTyped(read, static_cast<const T*>(in.data), out.as<T>());
  });
}

Status CopyMapped(std::span<const std::vector<int64_t>> maps, const TensorView& in,
                  const TensorView& fill, const MutableTensorView& out) {
  if (SharesBytes(out.dtype)) {
    const uint8_t code = fill.data == nullptr ? 0 : CodeAt(fill.dtype, fill.data, 0);
    return MoveCodes(in, out, [&](const TensorView& from, const MutableTensorView& to) {
      return CopyMapped(maps, from, {DType::kUint8, Shape{}, &code}, to);
    });
  }
  return CallWithElement(out.dtype, [&]<typename T>(const T&) {
    CopyMappedTyped(maps, in, static_cast<const T*>(fill.data), out);
  });
}

Status FillWith(const TensorView& value, const MutableTensorView& out) {
  if (SharesBytes(out.dtype)) {
    if (out.num_elements() == 0) return OkStatus();
    PutCodes(std::vector<uint8_t>(static_cast<size_t>(out.num_elements()),
                                  CodeAt(value.dtype, value.data, 0)),
             out);
    return OkStatus();
  }
  return CallWithElement(out.dtype, [&]<typename T>(const T&) {
    std::ranges::fill(out.as<T>(), *static_cast<const T*>(value.data));
  });
}

}  // namespace kheya::kernels
