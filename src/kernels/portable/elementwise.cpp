// Unary and binary functions with broadcasting, and the per-channel affine function.
#include "kernels/portable/broadcast.h"
#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

constexpr int64_t kChunk = 4096;

struct BinaryBody {
  BinaryParams params;
  Broadcast broadcast;

  Status operator()(const KernelArgs& args, SliceRange rows) const {
    const int64_t inner = broadcast.inner();
    const int64_t chunks = (inner + kChunk - 1) / kChunk;
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const int64_t outer = row / chunks;
      const int64_t begin = row % chunks * kChunk;
      const size_t count = std::min(kChunk, inner - begin);
      const size_t a_step = broadcast.step(0), b_step = broadcast.step(1);
      const float* a = InputF32(args, 0) + broadcast.Offset(outer, 0) + begin * a_step;
      const float* b = InputF32(args, 1) + broadcast.Offset(outer, 1) + begin * b_step;
      float* y = OutputF32(args, 0) + outer * inner + begin;
      simd::Binary(params.op, a, a_step, b, b_step, y, count);
      if (params.activation.op != ElementwiseOp::kIdentity) {
        simd::Unary(params.activation, y, y, count);
      }
    }
    return OkStatus();
  }
};

}  // namespace

bool PortableUnarySupports(const KernelCall& call) {
  return std::holds_alternative<UnaryParams>(call.params) && call.All(DType::kFloat32);
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableUnary(const KernelCall& call,
                                                                   const PrepareContext&) {
  const int64_t count = call.outputs[0].shape.num_elements();
  auto body = [function = std::get<UnaryParams>(call.params).function, count](
                  const KernelArgs& args, SliceRange chunks) {
    const int64_t begin = chunks.begin * kChunk;
    const int64_t end = std::min(chunks.end * kChunk, count);
    simd::Unary(function, InputF32(args, 0) + begin, OutputF32(args, 0) + begin, end - begin);
    return OkStatus();
  };
  return MakeRowKernel(body, (count + kChunk - 1) / kChunk, BytesOf(call), 1);
}

bool PortableBinarySupports(const KernelCall& call) {
  return std::holds_alternative<BinaryParams>(call.params) && call.All(DType::kFloat32) &&
         call.outputs[0].shape.num_elements() > 0 && Broadcast().Init(call);
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableBinary(const KernelCall& call,
                                                                    const PrepareContext&) {
  BinaryBody body{std::get<BinaryParams>(call.params), {}};
  body.broadcast.Init(call);
  const int64_t chunks = (body.broadcast.inner() + kChunk - 1) / kChunk;
  unsigned in_place = 0;
  for (unsigned i = 0; i < 2; ++i) {
    if (call.inputs[i].shape.num_elements() == call.outputs[0].shape.num_elements()) {
      in_place |= 1u << i;
    }
  }
  const int64_t rows = body.broadcast.outer() * chunks;
  return MakeRowKernel(std::move(body), rows, BytesOf(call), in_place);
}

bool PortableAffineSupports(const KernelCall& call) {
  return std::holds_alternative<AffineParams>(call.params) && call.All(DType::kFloat32) &&
         call.outputs[0].shape.rank() >= 2;
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableAffine(const KernelCall& call,
                                                                    const PrepareContext&) {
  const ChannelDims dims = ChannelDimsOf(call.outputs[0].shape);
  const bool last = call.outputs[0].layout == Layout::kChannelsLast;
  const Elementwise activation = std::get<AffineParams>(call.params).activation;
  const int64_t inner = last ? dims.channels : dims.positions;
  auto body = [=](const KernelArgs& args, SliceRange rows) {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const int64_t channel = last ? 0 : row % dims.channels;
      float* y = OutputF32(args, 0) + row * inner;
      simd::Affine(InputF32(args, 0) + row * inner, InputF32(args, 1) + channel,
                   InputF32(args, 2) + channel, last ? 1 : 0, y, inner);
      if (activation.op != ElementwiseOp::kIdentity) simd::Unary(activation, y, y, inner);
    }
    return OkStatus();
  };
  return MakeRowKernel(body, dims.batch * (last ? dims.positions : dims.channels), BytesOf(call),
                       1);
}

}  // namespace kheya
