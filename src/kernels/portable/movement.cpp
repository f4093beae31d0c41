// Data movement: transposes, layout changes, concatenation, splitting, gathering.
#include <algorithm>
#include <cstring>

#include "kernels/portable/pieces.h"
#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

using PreparedResult = Result<std::shared_ptr<const PreparedKernel>>;

// Bytes of an element that can be moved as such; 0 for packed types and strings.
int64_t ElementBytes(DType dtype) {
  return dtype == DType::kString ? 0 : GetDTypeInfo(dtype).bits / 8;
}

// Bytes are moved, not converted.
bool KeepsType(const KernelCall& call) {
  return std::ranges::all_of(call.outputs, [&](const TensorDesc& output) {
    return !output.present() || output.dtype == call.inputs[0].dtype;
  });
}

// A permutation with dimensions of size 1 dropped and those that stay together merged: output
// dimension i has `sizes[i]` elements that are `strides[i]` elements apart in the input.
struct Permutation {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

Permutation Merge(const std::vector<int64_t>& dims, const std::vector<int>& perm) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  Permutation merged;
  for (int axis : perm) {
    if (dims[axis] == 1) continue;
    if (!merged.sizes.empty() && merged.strides.back() == strides[axis] * dims[axis]) {
      merged.sizes.back() *= dims[axis];
      merged.strides.back() = strides[axis];
    } else {
      merged.sizes.push_back(dims[axis]);
      merged.strides.push_back(strides[axis]);
    }
  }
  if (merged.sizes.empty()) merged = {{1}, {1}};
  return merged;
}

// Any permutation, an output row at a time; the two last dimensions go as tiles where that is a
// transpose of 4-byte elements.
struct PermuteBody {
  Permutation permutation;
  int64_t bytes;  // of an element
  bool tiles;     // the last two dimensions are one unit of work

  int64_t UnitDims() const { return tiles ? 2 : 1; }
  int64_t Units() const {
    int64_t count = 1;
    for (size_t i = 0; i + UnitDims() < permutation.sizes.size(); ++i) {
      count *= permutation.sizes[i];
    }
    return count;
  }

  Status operator()(const KernelArgs& args, SliceRange units) const {
    const auto& [sizes, strides] = permutation;
    const size_t rank = sizes.size();
    const int64_t unit = tiles ? sizes[rank - 1] * sizes[rank - 2] : sizes[rank - 1];
    for (int64_t index = units.begin; index < units.end; ++index) {
      int64_t rest = index, offset = 0;
      for (size_t i = rank - UnitDims(); i-- > 0;) {
        offset += rest % sizes[i] * strides[i];
        rest /= sizes[i];
      }
      Move(args.inputs[0] + offset * bytes, args.outputs[0] + index * unit * bytes);
    }
    return OkStatus();
  }

  void Move(const std::byte* from, std::byte* to) const {
    const int64_t count = permutation.sizes.back();
    const int64_t stride = permutation.strides.back();
    if (tiles) {
      const size_t rows = permutation.sizes[permutation.sizes.size() - 2];
      simd::Transpose(reinterpret_cast<const float*>(from), stride, reinterpret_cast<float*>(to),
                      count, count, rows);
    } else {
      CopyPieces(from, stride * bytes, to, count, bytes, bytes);
    }
  }
};

PreparedResult PreparePermute(const KernelCall& call, const std::vector<int64_t>& dims,
                              const std::vector<int>& perm) {
  PermuteBody body{Merge(dims, perm), ElementBytes(call.inputs[0].dtype), false};
  const size_t rank = body.permutation.sizes.size();
  body.tiles = body.bytes == 4 && rank >= 2 && body.permutation.strides[rank - 2] == 1;
  const int64_t units = body.Units();
  return MakeRowKernel(std::move(body), units, 2 * BytesOf(call));
}

// The elements before `axis` (in memory order), and those of one index of it.
struct AxisDims {
  int64_t outer = 1;
  int64_t inner = 1;
};

AxisDims AxisDimsOf(const TensorDesc& desc, int axis) {
  const std::vector<int64_t> dims = MemoryDims(desc);
  const int rank = static_cast<int>(dims.size());
  if (desc.layout == Layout::kChannelsLast && rank > 2) {
    axis = axis == 0 ? 0 : axis == 1 ? rank - 1 : axis - 1;
  }
  AxisDims result;
  for (int i = 0; i < rank; ++i) (i < axis ? result.outer : result.inner) *= dims[i];
  return result;
}

// Copies between a whole and its parts along an axis: `part_bytes` of each outer index.
struct PartsBody {
  std::vector<size_t> part_bytes;
  bool join;
  size_t whole = 0;        // bytes of all parts together
  int64_t block_rows = 1;  // that all parts are copied of before the next ones
  int64_t element = 1;

  Status operator()(const KernelArgs& args, SliceRange rows) const {
    for (int64_t row = rows.begin; row < rows.end; row += block_rows) {
      Copy(args, {row, std::min(row + block_rows, rows.end)});
    }
    return OkStatus();
  }

 private:
  void Copy(const KernelArgs& args, SliceRange rows) const {
    size_t offset = 0;
    for (size_t i = 0; i < part_bytes.size(); offset += part_bytes[i++]) {
      const size_t bytes = part_bytes[i];
      if (!join && args.outputs[i] == nullptr) continue;
      if (join) {
        for (int64_t row = rows.begin; row < rows.end; ++row) {
          std::memcpy(args.outputs[0] + row * whole + offset, args.inputs[i] + row * bytes, bytes);
        }
      } else {
        CopyPieces(args.inputs[0] + rows.begin * whole + offset, static_cast<int64_t>(whole),
                   args.outputs[i] + rows.begin * bytes, rows.end - rows.begin,
                   static_cast<int64_t>(bytes), element);
      }
    }
  }
};

PreparedResult PrepareParts(const KernelCall& call, const std::vector<TensorDesc>& parts, int axis,
                            bool join) {
  PartsBody body{{}, join};
  int64_t rows = 1;
  for (const TensorDesc& part : parts) {
    const AxisDims dims = AxisDimsOf(part, axis);
    body.part_bytes.push_back(dims.inner * ElementBytes(part.dtype));
    body.whole += body.part_bytes.back();
    body.element = ElementBytes(part.dtype);
    rows = dims.outer;
  }
  constexpr size_t kBlockBytes = 16 << 10;  // of the whole: stays in the first-level cache
  body.block_rows = static_cast<int64_t>(kBlockBytes / std::max<size_t>(body.whole, 1)) + 1;
  return MakeRowKernel(std::move(body), rows, BytesOf(call));
}

template <typename Index>
Status GatherRows(const KernelArgs& args, SliceRange rows, int64_t indices, int64_t size,
                  size_t bytes) {
  const auto* index = reinterpret_cast<const Index*>(args.inputs[1]);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    int64_t at = index[row % indices];
    if (at < -size || at >= size) {
      return OutOfRangeError("found index {}, expected one of [{}, {})", at, -size, size);
    }
    if (at < 0) at += size;
    std::memcpy(args.outputs[0] + row * bytes, args.inputs[0] + (row / indices * size + at) * bytes,
                bytes);
  }
  return OkStatus();
}

}  // namespace

bool PortableTransposeSupports(const KernelCall& call) {
  return std::holds_alternative<TransposeParams>(call.params) && KeepsType(call) &&
         ElementBytes(call.inputs[0].dtype) > 0 && ElementBytes(call.inputs[0].dtype) <= 8 &&
         call.inputs[0].layout == Layout::kPlain && call.inputs[0].shape.num_elements() > 0;
}

PreparedResult PreparePortableTranspose(const KernelCall& call, const PrepareContext&) {
  const Shape& shape = call.inputs[0].shape;
  return PreparePermute(call, {shape.begin(), shape.end()},
                        std::get<TransposeParams>(call.params).perm);
}

bool PortableReorderSupports(const KernelCall& call) {
  const int64_t bytes = ElementBytes(call.inputs[0].dtype);
  return std::holds_alternative<ReorderParams>(call.params) && KeepsType(call) && bytes > 0 &&
         bytes <= 8 && call.inputs[0].shape.rank() >= 3 &&
         call.inputs[0].layout != call.outputs[0].layout;
}

PreparedResult PreparePortableReorder(const KernelCall& call, const PrepareContext&) {
  const ChannelDims dims = ChannelDimsOf(call.inputs[0].shape);
  const bool to_last = call.outputs[0].layout == Layout::kChannelsLast;
  const int64_t rows = to_last ? dims.channels : dims.positions;
  const int64_t columns = to_last ? dims.positions : dims.channels;
  return PreparePermute(call, {dims.batch, rows, columns}, {0, 2, 1});
}

bool PortableConcatSupports(const KernelCall& call) {
  return std::holds_alternative<ConcatParams>(call.params) &&
         ElementBytes(call.outputs[0].dtype) > 0 && call.All(call.outputs[0].dtype);
}

PreparedResult PreparePortableConcat(const KernelCall& call, const PrepareContext&) {
  return PrepareParts(call, call.inputs, std::get<ConcatParams>(call.params).axis, true);
}

bool PortableSplitSupports(const KernelCall& call) {
  return std::holds_alternative<SplitParams>(call.params) && KeepsType(call) &&
         ElementBytes(call.inputs[0].dtype) > 0;
}

PreparedResult PreparePortableSplit(const KernelCall& call, const PrepareContext&) {
  return PrepareParts(call, call.outputs, std::get<SplitParams>(call.params).axis, false);
}

bool PortableGatherSupports(const KernelCall& call) {
  if (!std::holds_alternative<GatherParams>(call.params) || !KeepsType(call)) return false;
  const DType index = call.inputs[1].dtype;
  return (index == DType::kInt64 || index == DType::kInt32) &&
         ElementBytes(call.inputs[0].dtype) > 0 && call.outputs[0].shape.num_elements() > 0 &&
         call.inputs[0].layout == Layout::kPlain;
}

PreparedResult PreparePortableGather(const KernelCall& call, const PrepareContext&) {
  const int axis = std::get<GatherParams>(call.params).axis;
  const Shape& data = call.inputs[0].shape;
  const size_t bytes = data.Product(axis + 1, data.rank()) * ElementBytes(call.inputs[0].dtype);
  const int64_t indices = call.inputs[1].shape.num_elements();
  const bool wide = call.inputs[1].dtype == DType::kInt64;
  auto body = [=, size = data[axis]](const KernelArgs& args, SliceRange rows) {
    return wide ? GatherRows<int64_t>(args, rows, indices, size, bytes)
                : GatherRows<int32_t>(args, rows, indices, size, bytes);
  };
  const TensorDesc& y = call.outputs[0];
  return MakeRowKernel(body, data.Product(0, axis) * indices,
                       2.0 * static_cast<double>(BytesFor(y.dtype, y.shape.num_elements())));
}

}  // namespace kheya
