#include "kernels/sample.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kheya {
namespace {

using Index = std::array<int64_t, kMaxRank>;

Index IndexOf(const Shape& shape, int64_t linear) {
  Index index = {};
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[axis] = linear % shape[axis];
    linear /= shape[axis];
  }
  return index;
}

int64_t Offset(const TensorDesc& desc, const Index& index) {
  const int rank = desc.shape.rank();
  int64_t offset = index[0];
  if (desc.layout == Layout::kPlain || rank < 3) {
    for (int axis = 1; axis < rank; ++axis) offset = offset * desc.shape[axis] + index[axis];
    return offset;
  }
  for (int axis = 2; axis < rank; ++axis) offset = offset * desc.shape[axis] + index[axis];
  return offset * desc.shape[1] + index[1];
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double Apply(const Elementwise& f, double x) {
  switch (f.op) {
    case ElementwiseOp::kIdentity:
      return x;
    case ElementwiseOp::kRelu:
      return x < 0 ? 0 : x;
    case ElementwiseOp::kClip:
      return x < f.alpha ? f.alpha : (x > f.beta ? f.beta : x);
    case ElementwiseOp::kLeakyRelu:
      return x < 0 ? f.alpha * x : x;
    case ElementwiseOp::kElu:
      return x < 0 ? f.alpha * std::expm1(x) : x;
    case ElementwiseOp::kSigmoid:
      return Sigmoid(x);
    case ElementwiseOp::kTanh:
      return std::tanh(x);
    case ElementwiseOp::kGelu:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case ElementwiseOp::kGeluTanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case ElementwiseOp::kSilu:
      return x * Sigmoid(f.alpha * x);
    case ElementwiseOp::kHardSigmoid:
      return std::clamp(f.alpha * x + f.beta, 0.0, 1.0);
    case ElementwiseOp::kHardSwish:
      return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
    case ElementwiseOp::kSoftplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case ElementwiseOp::kMish:
      return x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
    case ElementwiseOp::kErf:
      return std::erf(x);
    case ElementwiseOp::kExp:
      return std::exp(x);
    case ElementwiseOp::kSqrt:
      return std::sqrt(x);
    case ElementwiseOp::kReciprocal:
      return 1 / x;
    case ElementwiseOp::kNeg:
      return -x;
    case ElementwiseOp::kAbs:
      return std::abs(x);
    case ElementwiseOp::kFloor:
      return std::floor(x);
    case ElementwiseOp::kCeil:
      return std::ceil(x);
  }
  return x;
}

double SampleConv(const KernelCall& call, const FusedConvParams& params,
                  std::span<const float* const> inputs, const Index& y) {
  const kernels::Window& window = params.conv.window;
  const TensorDesc& x_desc = call.inputs[0];
  const TensorDesc& w_desc = call.inputs[1];
  const int rank = x_desc.shape.rank();
  const int skipped = kernels::kSpatialAxes - (rank - 2);
  const int64_t per_group = call.outputs[0].shape[1] / params.conv.groups;
  const int64_t first_channel = y[1] / per_group * w_desc.shape[1];
  double sum = 0;
  const int64_t elements = w_desc.shape.Product(1, rank);
  for (int64_t i = 0; i < elements; ++i) {
    Index w = IndexOf(w_desc.shape, i);
    w[0] = y[1];
    Index x = {y[0], first_channel + w[1]};
    bool inside = true;
    for (int axis = 2; axis < rank; ++axis) {
      const int place = skipped + axis - 2;
      x[axis] = y[axis] * window.stride[place] - window.pad_begin[place] +
                w[axis] * window.dilation[place];
      inside = inside && x[axis] >= 0 && x[axis] < x_desc.shape[axis];
    }
    if (inside) sum += double{inputs[0][Offset(x_desc, x)]} * inputs[1][Offset(w_desc, w)];
  }
  if (call.has_input(2)) sum += inputs[2][y[1]];
  return sum;
}

// The index into an operand that broadcasts to the output: its last axes are the output's.
Index Broadcast(const Shape& operand, const Shape& output, const Index& y) {
  Index index = {};
  for (int i = 1; i <= operand.rank(); ++i) {
    const int axis = operand.rank() - i;
    index[axis] = operand[axis] == 1 ? 0 : y[output.rank() - i];
  }
  return index;
}

double SampleMatMul(const KernelCall& call, const FusedMatMulParams& params,
                    std::span<const float* const> inputs, const Index& y) {
  const Shape& out = call.outputs[0].shape;
  const TensorDesc& a_desc = call.inputs[0];
  const TensorDesc& b_desc = call.inputs[1];
  const int a_rank = a_desc.shape.rank(), b_rank = b_desc.shape.rank();
  const int a_k = a_rank - (params.gemm.trans_a ? 2 : 1);
  const int b_k = b_rank - (params.gemm.trans_b ? 1 : 2);
  Index a = Broadcast(a_desc.shape, out, y);
  Index b = Broadcast(b_desc.shape, out, y);
  a[a_rank - (params.gemm.trans_a ? 1 : 2)] = y[out.rank() - 2];
  b[b_rank - (params.gemm.trans_b ? 2 : 1)] = y[out.rank() - 1];
  double sum = 0;
  for (int64_t k = 0; k < a_desc.shape[a_k]; ++k) {
    a[a_k] = b[b_k] = k;
    sum += double{inputs[0][Offset(a_desc, a)]} * inputs[1][Offset(b_desc, b)];
  }
  sum *= params.gemm.alpha;
  if (call.has_input(2)) {
    const Index bias = Broadcast(call.inputs[2].shape, out, y);
    sum += double{params.gemm.beta} * inputs[2][Offset(call.inputs[2], bias)];
  }
  return sum;
}

}  // namespace

int64_t MemoryIndex(const TensorDesc& desc, int64_t index) {
  return Offset(desc, IndexOf(desc.shape, index));
}

std::optional<double> SampleOutput(const KernelCall& call, std::span<const float* const> inputs,
                                   int64_t index) {
  const Index y = IndexOf(call.outputs[0].shape, index);
  double sum = 0;
  Elementwise activation;
  if (const auto* conv = std::get_if<FusedConvParams>(&call.params)) {
    sum = SampleConv(call, *conv, inputs, y);
    activation = conv->activation;
  } else if (const auto* product = std::get_if<FusedMatMulParams>(&call.params)) {
    if (call.inputs[0].shape.rank() < 2 || call.inputs[1].shape.rank() < 2) return std::nullopt;
    sum = SampleMatMul(call, *product, inputs, y);
    activation = product->activation;
  } else {
    return std::nullopt;
  }
  if (call.has_input(3)) sum += inputs[3][Offset(call.inputs[3], y)];
  return Apply(activation, sum);
}

}  // namespace kheya
