// Between float32 and bfloat16, between layouts at the same time where they differ.
#include <algorithm>

#include "kernels/portable/bf16.h"
#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"
#include "tensor/float16.h"

namespace kheya {
namespace {

constexpr int64_t kChunk = 1024;

struct ConvertBody {
  DType to;
  int64_t count;

  Status operator()(const KernelArgs& args, SliceRange chunks) const {
    const int64_t begin = chunks.begin * kChunk;
    const int64_t size = std::min(chunks.end * kChunk, count) - begin;
    if (to == DType::kBFloat16) {
      simd::Narrow(InputF32(args, 0) + begin, reinterpret_cast<uint16_t*>(args.outputs[0]) + begin,
                   size);
    } else {
      simd::Widen(reinterpret_cast<const uint16_t*>(args.inputs[0]) + begin,
                  OutputF32(args, 0) + begin, size);
    }
    return OkStatus();
  }
};

float AsFloat(float value) { return value; }
float AsFloat(uint16_t bits) {
  BFloat16 value;
  value.bits = bits;
  return value;
}
void Put(float value, float* to) { *to = value; }
void Put(float value, uint16_t* to) { *to = FloatToBFloatBits(value); }

// y[column][row] = x[row][column] in squares that stay in the first cache.
template <typename From, typename To>
void TransposeConvert(const From* x, To* y, int64_t rows, int64_t columns) {
  constexpr int64_t kSquare = 32;
  for (int64_t r = 0; r < rows; r += kSquare) {
    const int64_t last_row = std::min(r + kSquare, rows);
    for (int64_t c = 0; c < columns; c += kSquare) {
      const int64_t last_column = std::min(c + kSquare, columns);
      for (int64_t j = c; j < last_column; ++j) {
        for (int64_t i = r; i < last_row; ++i) {
          Put(AsFloat(x[i * columns + j]), y + j * rows + i);
        }
      }
    }
  }
}

struct TransposeConvertBody {
  DType to;
  int64_t rows;  // of each image of x
  int64_t columns;

  Status operator()(const KernelArgs& args, SliceRange images) const {
    for (int64_t image = images.begin; image < images.end; ++image) {
      const int64_t first = image * rows * columns;
      if (to == DType::kBFloat16) {
        TransposeConvert(InputF32(args, 0) + first,
                         reinterpret_cast<uint16_t*>(args.outputs[0]) + first, rows, columns);
      } else {
        TransposeConvert(reinterpret_cast<const uint16_t*>(args.inputs[0]) + first,
                         OutputF32(args, 0) + first, rows, columns);
      }
    }
    return OkStatus();
  }
};

}  // namespace

bool ConvertSupports(const KernelCall& call) {
  return std::holds_alternative<ReorderParams>(call.params) && MixesBf16(call) &&
         call.inputs[0].dtype != call.outputs[0].dtype &&
         (call.inputs[0].layout == call.outputs[0].layout || call.inputs[0].shape.rank() >= 3);
}

Result<std::shared_ptr<const PreparedKernel>> PrepareConvert(const KernelCall& call,
                                                             const PrepareContext&) {
  const TensorDesc& y = call.outputs[0];
  if (call.inputs[0].layout == y.layout || LayoutsCoincide(y.shape)) {
    const int64_t count = y.shape.num_elements();
    return MakeRowKernel(ConvertBody{y.dtype, count}, (count + kChunk - 1) / kChunk, BytesOf(call));
  }
  const ChannelDims dims = ChannelDimsOf(y.shape);
  const bool to_last = y.layout == Layout::kChannelsLast;
  const TransposeConvertBody body{y.dtype, to_last ? dims.channels : dims.positions,
                                  to_last ? dims.positions : dims.channels};
  return MakeRowKernel(body, dims.batch, BytesOf(call));
}

}  // namespace kheya
