// Unary and binary functions with broadcasting, and the per-channel affine function.
#include <array>

#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

constexpr int64_t kChunk = 4096;

// Two operands that broadcast to an output, with neighboring dimensions that lie alike merged.
class Broadcast {
 public:
  // False when the operands do not broadcast to the output.
  bool Init(const KernelCall& call) {
    const std::vector<int64_t> out = MemoryDims(call.outputs[0]);
    std::array<std::vector<int64_t>, 2> strides;
    for (int i = 0; i < 2; ++i) {
      if (!StridesFor(MemoryDims(call.inputs[i]), out, &strides[i])) return false;
    }
    for (size_t axis = 0; axis < out.size(); ++axis) {
      if (out[axis] != 1) Append(out[axis], strides[0][axis], strides[1][axis]);
    }
    if (dims_.empty()) Append(1, 0, 0);
    return true;
  }

  int64_t inner() const { return dims_.back().size; }
  size_t step(int operand) const { return dims_.back().strides[operand] != 0 ? 1 : 0; }
  int64_t outer() const {
    int64_t count = 1;
    for (size_t i = 0; i + 1 < dims_.size(); ++i) count *= dims_[i].size;
    return count;
  }
  // Where row `row` of the outer dimensions begins in an operand.
  int64_t Offset(int64_t row, int operand) const {
    int64_t offset = 0;
    for (size_t i = dims_.size() - 1; i-- > 0;) {
      offset += row % dims_[i].size * dims_[i].strides[operand];
      row /= dims_[i].size;
    }
    return offset;
  }

 private:
  struct Axis {
    int64_t size;
    std::array<int64_t, 2> strides;
  };

  static bool StridesFor(const std::vector<int64_t>& dims, const std::vector<int64_t>& out,
                         std::vector<int64_t>* strides) {
    if (dims.size() > out.size()) return false;
    strides->assign(out.size(), 0);
    int64_t step = 1;
    for (size_t i = 1; i <= dims.size(); ++i) {
      const int64_t size = dims[dims.size() - i];
      if (size != 1 && size != out[out.size() - i]) return false;
      if (size != 1) (*strides)[out.size() - i] = step;
      step *= size;
    }
    return true;
  }

  void Append(int64_t size, int64_t a, int64_t b) {
    if (!dims_.empty()) {
      Axis& last = dims_.back();
      if (last.strides[0] == a * size && last.strides[1] == b * size) {
        last = {last.size * size, {a, b}};
        return;
      }
    }
    dims_.push_back({size, {a, b}});
  }

  std::vector<Axis> dims_;
};

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
