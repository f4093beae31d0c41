// Elementwise functions and functions of rows whose operands are float32 or bfloat16, each of its
// own type: computed in float32, a run at a time.
#include <algorithm>

#include "kernels/portable/bf16.h"
#include "kernels/portable/broadcast.h"
#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

using PreparedResult = Result<std::shared_ptr<const PreparedKernel>>;

constexpr int64_t kChunk = 1024;

struct MixedBinaryBody {
  BinaryParams params;
  Broadcast broadcast;
  DType a_type, b_type, y_type;

  Status operator()(const KernelArgs& args, SliceRange rows) const {
    float a_room[kChunk], b_room[kChunk], y_room[kChunk];
    const int64_t inner = broadcast.inner();
    const int64_t chunks = (inner + kChunk - 1) / kChunk;
    const size_t a_step = broadcast.step(0), b_step = broadcast.step(1);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const int64_t outer = row / chunks, begin = row % chunks * kChunk;
      const int64_t count = std::min(kChunk, inner - begin);
      const auto read = [&](int input, DType type, size_t step, float* room) {
        const int64_t first = broadcast.Offset(outer, input) + begin * static_cast<int64_t>(step);
        return ReadRun(args.inputs[input], type, first, step == 0 ? 1 : count, room);
      };
      const float* a = read(0, a_type, a_step, a_room);
      const float* b = read(1, b_type, b_step, b_room);
      const int64_t first = outer * inner + begin;
      float* y = RoomFor(args.outputs[0], y_type, first, y_room);
      simd::Binary(params.op, a, a_step, b, b_step, y, count);
      if (params.activation.op != ElementwiseOp::kIdentity) {
        simd::Unary(params.activation, y, y, count);
      }
      WriteRun(args.outputs[0], y_type, first, count, y);
    }
    return OkStatus();
  }
};

// Input `index` may become the output: as many elements of the same type.
unsigned InPlace(const KernelCall& call, size_t index) {
  const TensorDesc& x = call.inputs[index];
  const TensorDesc& y = call.outputs[0];
  const bool alike = x.dtype == y.dtype && x.shape.num_elements() == y.shape.num_elements();
  return alike ? 1u << index : 0u;
}

// `body(x, y)` on each row of `inner` elements in plain memory; y has `y_inner` elements.
template <typename Body>
class MixedRows : public PreparedKernel {
 public:
  MixedRows(const KernelCall& call, int64_t inner, int64_t y_inner, Body body)
      : x_type_(call.inputs[0].dtype),
        y_type_(call.outputs[0].dtype),
        inner_(inner),
        y_inner_(y_inner),
        rows_(call.inputs[0].shape.num_elements() / inner),
        slices_(SlicesFor(BytesOf(call), kLeastBytes, rows_)),
        in_place_(y_inner == inner && InPlace(call, 0) != 0),
        body_(std::move(body)) {}

  int64_t slices() const override { return slices_; }
  size_t workspace_bytes() const override { return sizeof(float) * slices_ * Room(); }
  bool CanRunInPlace(int input) const override { return input == 0 && in_place_; }

  Status Run(const KernelArgs& args) const override {
    float* room = reinterpret_cast<float*>(args.workspace) + args.slice * Room();
    const SliceRange rows = RangeOf(args.slice, slices_, rows_);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const float* x = ReadRun(args.inputs[0], x_type_, row * inner_, inner_, room);
      float* y = RoomFor(args.outputs[0], y_type_, row * y_inner_, room + inner_);
      body_(args, x, y);
      WriteRun(args.outputs[0], y_type_, row * y_inner_, y_inner_, y);
    }
    return OkStatus();
  }

 private:
  int64_t Room() const { return inner_ + y_inner_; }

  const DType x_type_;
  const DType y_type_;
  const int64_t inner_;
  const int64_t y_inner_;
  const int64_t rows_;
  const int64_t slices_;
  const bool in_place_;
  const Body body_;
};

template <typename Body>
PreparedResult MakeMixedRows(const KernelCall& call, int64_t inner, int64_t y_inner, Body body) {
  return std::shared_ptr<const PreparedKernel>(
      std::make_shared<MixedRows<Body>>(call, inner, y_inner, std::move(body)));
}

bool Float32OrNone(const KernelCall& call, size_t input) {
  return !call.has_input(input) || call.inputs[input].dtype == DType::kFloat32;
}

}  // namespace

bool MixedUnarySupports(const KernelCall& call) {
  return std::holds_alternative<UnaryParams>(call.params) && MixesBf16(call) &&
         call.inputs.size() == 1;
}

PreparedResult PrepareMixedUnary(const KernelCall& call, const PrepareContext&) {
  const int64_t count = call.outputs[0].shape.num_elements();
  auto body = [function = std::get<UnaryParams>(call.params).function,
               x_type = call.inputs[0].dtype, y_type = call.outputs[0].dtype,
               count](const KernelArgs& args, SliceRange chunks) {
    float x_room[kChunk], y_room[kChunk];
    for (int64_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
      const int64_t first = chunk * kChunk, size = std::min(kChunk, count - first);
      const float* x = ReadRun(args.inputs[0], x_type, first, size, x_room);
      float* y = RoomFor(args.outputs[0], y_type, first, y_room);
      simd::Unary(function, x, y, size);
      WriteRun(args.outputs[0], y_type, first, size, y);
    }
    return OkStatus();
  };
  return MakeRowKernel(body, (count + kChunk - 1) / kChunk, BytesOf(call), InPlace(call, 0));
}

bool MixedBinarySupports(const KernelCall& call) {
  return std::holds_alternative<BinaryParams>(call.params) && MixesBf16(call) &&
         call.outputs[0].shape.num_elements() > 0 && Broadcast().Init(call);
}

PreparedResult PrepareMixedBinary(const KernelCall& call, const PrepareContext&) {
  MixedBinaryBody body{std::get<BinaryParams>(call.params),
                       {},
                       call.inputs[0].dtype,
                       call.inputs[1].dtype,
                       call.outputs[0].dtype};
  body.broadcast.Init(call);
  const int64_t chunks = (body.broadcast.inner() + kChunk - 1) / kChunk;
  const int64_t rows = body.broadcast.outer() * chunks;
  return MakeRowKernel(std::move(body), rows, BytesOf(call), InPlace(call, 0) | InPlace(call, 1));
}

bool MixedAffineSupports(const KernelCall& call) {
  return std::holds_alternative<AffineParams>(call.params) && MixesBf16(call) &&
         Float32OrNone(call, 1) && Float32OrNone(call, 2) && call.outputs[0].shape.rank() >= 2;
}

PreparedResult PrepareMixedAffine(const KernelCall& call, const PrepareContext&) {
  const ChannelDims dims = ChannelDimsOf(call.outputs[0].shape);
  const bool last = call.outputs[0].layout == Layout::kChannelsLast;
  const Elementwise activation = std::get<AffineParams>(call.params).activation;
  const int64_t inner = last ? dims.channels : dims.positions;
  const int64_t chunks = (inner + kChunk - 1) / kChunk;
  auto body = [=, x_type = call.inputs[0].dtype, y_type = call.outputs[0].dtype](
                  const KernelArgs& args, SliceRange units) {
    float x_room[kChunk], y_room[kChunk];
    for (int64_t unit = units.begin; unit < units.end; ++unit) {
      const int64_t row = unit / chunks, begin = unit % chunks * kChunk;
      const int64_t channel = last ? begin : row % dims.channels;
      const int64_t first = row * inner + begin, count = std::min(kChunk, inner - begin);
      const float* x = ReadRun(args.inputs[0], x_type, first, count, x_room);
      float* y = RoomFor(args.outputs[0], y_type, first, y_room);
      simd::Affine(x, InputF32(args, 1) + channel, InputF32(args, 2) + channel, last ? 1 : 0, y,
                   count);
      if (activation.op != ElementwiseOp::kIdentity) simd::Unary(activation, y, y, count);
      WriteRun(args.outputs[0], y_type, first, count, y);
    }
    return OkStatus();
  };
  const int64_t rows = dims.batch * (last ? dims.positions : dims.channels);
  return MakeRowKernel(body, rows * chunks, BytesOf(call), InPlace(call, 0));
}

bool MixedSoftmaxSupports(const KernelCall& call) {
  const auto* params = std::get_if<SoftmaxParams>(&call.params);
  if (params == nullptr || !MixesBf16(call)) return false;
  const TensorDesc& x = call.inputs[0];
  return x.layout == Layout::kPlain && x.shape.num_elements() > 0 &&
         x.shape.Product(params->axis + 1, x.shape.rank()) == 1;
}

PreparedResult PrepareMixedSoftmax(const KernelCall& call, const PrepareContext&) {
  const SoftmaxParams params = std::get<SoftmaxParams>(call.params);
  const int64_t inner = call.inputs[0].shape[params.axis];
  return MakeMixedRows(call, inner, inner,
                       [log = params.log, inner](const KernelArgs&, const float* x, float* y) {
                         simd::SoftmaxRow(x, y, inner, log);
                       });
}

bool MixedLayerNormSupports(const KernelCall& call) {
  return std::holds_alternative<LayerNormParams>(call.params) && MixesBf16(call) &&
         Float32OrNone(call, 1) && Float32OrNone(call, 2) &&
         call.inputs[0].layout == Layout::kPlain && call.inputs[0].shape.num_elements() > 0;
}

PreparedResult PrepareMixedLayerNorm(const KernelCall& call, const PrepareContext&) {
  const LayerNormParams params = std::get<LayerNormParams>(call.params);
  const Shape& shape = call.inputs[0].shape;
  const int64_t inner = shape.Product(params.axis, shape.rank());
  return MakeMixedRows(call, inner, inner,
                       [params, biased = call.has_input(2), inner](const KernelArgs& args,
                                                                   const float* x, float* y) {
                         if (params.rms) {
                           simd::RmsNormRow(x, InputF32(args, 1), params.epsilon, y, inner);
                           return;
                         }
                         simd::LayerNormRow(x, InputF32(args, 1),
                                            biased ? InputF32(args, 2) : nullptr, params.epsilon, y,
                                            inner);
                       });
}

bool MixedReduceMeanSupports(const KernelCall& call) {
  return std::holds_alternative<ReduceMeanParams>(call.params) && MixesBf16(call) &&
         call.inputs[0].layout == Layout::kPlain && call.inputs[0].shape.num_elements() > 0;
}

PreparedResult PrepareMixedReduceMean(const KernelCall& call, const PrepareContext&) {
  const Shape& shape = call.inputs[0].shape;
  const int64_t inner = shape.Product(std::get<ReduceMeanParams>(call.params).axis, shape.rank());
  return MakeMixedRows(call, inner, 1, [inner](const KernelArgs&, const float* x, float* y) {
    *y = simd::Sum(x, inner) / static_cast<float>(inner);
  });
}

}  // namespace kheya
