// RowKernel: the usual form of a portable kernel: a body over independent rows, cut by bytes.
#ifndef KHEYA_KERNELS_PORTABLE_ROWS_H_
#define KHEYA_KERNELS_PORTABLE_ROWS_H_

#include <memory>
#include <utility>

#include "kernels/kernel.h"
#include "kernels/slicing.h"

namespace kheya {

// `Body` is callable as Status(const KernelArgs&, SliceRange rows) const and knows the call.
template <typename Body>
class RowKernel : public PreparedKernel {
 public:
  // `bytes`: read and written in all; `in_place`: input i may be the output where bit i is set.
  RowKernel(Body body, int64_t rows, double bytes, unsigned in_place)
      : body_(std::move(body)),
        rows_(rows),
        slices_(SlicesFor(bytes, kLeastBytes, rows)),
        in_place_(in_place) {}

  int64_t slices() const override { return slices_; }
  bool CanRunInPlace(int input) const override { return (in_place_ >> input & 1) != 0; }
  Status Run(const KernelArgs& args) const override {
    return body_(args, RangeOf(args.slice, slices_, rows_));
  }

 private:
  const Body body_;
  const int64_t rows_;
  const int64_t slices_;
  const unsigned in_place_;
};

template <typename Body>
std::shared_ptr<const PreparedKernel> MakeRowKernel(Body body, int64_t rows, double bytes,
                                                    unsigned in_place = 0) {
  return std::make_shared<RowKernel<Body>>(std::move(body), rows, bytes, in_place);
}

inline const float* InputF32(const KernelArgs& args, size_t index) {
  return reinterpret_cast<const float*>(args.inputs[index]);
}
inline float* OutputF32(const KernelArgs& args, size_t index) {
  return reinterpret_cast<float*>(args.outputs[index]);
}

// Bytes of everything that the call reads and writes.
inline double BytesOf(const KernelCall& call) {
  double bytes = 0;
  for (const auto* descs : {&call.inputs, &call.outputs}) {
    for (const TensorDesc& desc : *descs) {
      if (desc.present())
        bytes += static_cast<double>(BytesFor(desc.dtype, desc.shape.num_elements()));
    }
  }
  return bytes;
}

// [N, C, positions] of a shape of rank 2 or more.
struct ChannelDims {
  int64_t batch = 0;
  int64_t channels = 0;
  int64_t positions = 0;
};
inline ChannelDims ChannelDimsOf(const Shape& shape) {
  return {shape[0], shape[1], shape.Product(2, shape.rank())};
}

}  // namespace kheya

#endif  // KHEYA_KERNELS_PORTABLE_ROWS_H_
