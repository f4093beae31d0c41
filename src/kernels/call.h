// KernelCall: a computation on described memory, in the terms of the kernels. One parameter struct
// for each family; its place in KernelParams is its family.
#ifndef KHEYA_KERNELS_CALL_H_
#define KHEYA_KERNELS_CALL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kernels/params/attention.h"
#include "kernels/params/conv.h"
#include "kernels/params/gemm.h"
#include "kernels/params/norm.h"
#include "kernels/params/pool.h"
#include "kernels/params/resize.h"
#include "kernels/reference/recurrent.h"
#include "kernels/reference/trees.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace kheya {

// How the elements of a tensor [N, C, spatial...] lie in memory. Shapes are always given in the
// order of the operator, whatever the layout.
enum class Layout : uint8_t {
  kPlain,         // row-major
  kChannelsLast,  // row-major in the order N, spatial..., C
};

// `dtype` kUndefined: an optional input that is left out.
struct TensorDesc {
  DType dtype = DType::kUndefined;
  Shape shape;
  Layout layout = Layout::kPlain;

  bool present() const { return dtype != DType::kUndefined; }
  bool operator==(const TensorDesc&) const = default;
};

// The dimensions in the order in which they lie in memory.
std::vector<int64_t> MemoryDims(const TensorDesc& desc);
// True when both layouts of this shape are the same memory.
bool LayoutsCoincide(const Shape& shape);

// What is done to each element: y = f(x). Formulas as in ONNX; alpha and beta as named there.
enum class ElementwiseOp : uint8_t {
  kIdentity,
  kRelu,
  kClip,       // alpha: lowest, beta: highest
  kLeakyRelu,  // alpha
  kElu,        // alpha
  kSigmoid,
  kTanh,
  kGelu,         // x/2 (1 + erf(x/sqrt 2))
  kGeluTanh,     // the tanh approximation
  kSilu,         // x sigmoid(alpha x)
  kHardSigmoid,  // max(0, min(1, alpha x + beta))
  kHardSwish,    // x hard_sigmoid(x; 1/6, 1/2)
  kSoftplus,
  kMish,  // x tanh(softplus(x))
  kErf,
  kExp,
  kSqrt,
  kReciprocal,
  kNeg,
  kAbs,
  kFloor,
  kCeil,
};

struct Elementwise {
  ElementwiseOp op = ElementwiseOp::kIdentity;
  float alpha = 0;
  float beta = 0;
};

// inputs: x, weights [M, C/groups, kernel...], bias [M] or none, residual of the output's shape or
// none. y = activation(conv(x, w) + bias + residual).
struct FusedConvParams {
  kernels::ConvParams conv;
  Elementwise activation;
};

// inputs: x, weights [C, M, kernel...], bias [M] or none.
struct ConvTransposeParams {
  kernels::ConvParams conv;
};

// inputs: a [..., M, K], b [..., K, N] (before that transposed where asked), bias that broadcasts
// to the output or none, residual of the output's shape or none.
// y = activation(alpha a b + beta bias + residual). Batch dimensions broadcast.
struct FusedMatMulParams {
  kernels::GemmParams gemm;
  Elementwise activation;
};

// inputs: x. One output of the same shape and layout.
struct UnaryParams {
  Elementwise function;
};

enum class BinaryOp : uint8_t { kAdd, kSub, kMul, kDiv, kMin, kMax };

// inputs: a, b, that broadcast to the output. y = activation(a op b).
struct BinaryParams {
  BinaryOp op = BinaryOp::kAdd;
  Elementwise activation;
};

// inputs: x [N, C, ...], scale [C], shift [C]. y = activation(x scale + shift) for each channel.
struct AffineParams {
  Elementwise activation;
};

// inputs: x. Over one axis of plain memory.
struct SoftmaxParams {
  int axis = -1;
  bool log = false;
};

// inputs: x, scale, bias or none, both of the normalized dimensions' shape. Normalizes over the
// dimensions [axis, rank); by the mean of squares alone where `rms`, then without bias.
struct LayerNormParams {
  int axis = -1;
  float epsilon = 1e-5f;
  bool rms = false;
};

// inputs: x. The mean over all spatial dimensions of [N, C, spatial...]; output [N, C, 1...] or
// [N, C].
struct GlobalMeanParams {};

// inputs: x. The mean over the last dimensions [axis, rank) of plain memory.
struct ReduceMeanParams {
  int axis = -1;
};

// inputs: x. Output dimension i is input dimension perm[i]. Any type of 1, 2, 4 or 8 bytes.
struct TransposeParams {
  std::vector<int> perm;
};

// inputs: x. The output has the same shape in another layout, or of another floating-point type, or
// both.
struct ReorderParams {};

// inputs: any number, joined along the axis. All in one layout. Any type of whole bytes.
struct ConcatParams {
  int axis = 0;
};

// inputs: x. Outputs: consecutive parts along the axis. Any type of whole bytes.
struct SplitParams {
  int axis = 0;
};

// inputs: data, int32 or int64 indices (negative ones count from the end). Any type of whole
// bytes. An index out of range is OutOfRange.
struct GatherParams {
  int axis = 0;
};

// inputs: x, one element or none. Along each axis y[i] = x[start + step i]; where that is outside
// of x the element, or 0. Any type of whole bytes.
struct RegionParams {
  std::vector<int64_t> starts;  // by axis
  std::vector<int64_t> steps;   // not 0
};

// inputs: x. Outputs: the values and the int64 places of the K best along the axis, best first,
// equals in order, NaN above all; either may be none. K is the size of the outputs.
struct TopKParams {
  int axis = -1;
  bool largest = true;
};

// inputs: x [N, C] or [C]. Outputs: of a classifier labels [N] (or none) and scores, of others
// scores [N, targets].
struct TreesParams {
  std::shared_ptr<const kernels::TreeModel> model;  // checked for C features
  std::vector<int64_t> labels;                      // of the classes
};

// kernels::FusedAttentionParams: inputs: q, k, v, all float32, and a mask of float32 or bool or
// none, in plain memory where the parameters say. kernels::PoolParams: inputs: x. Maximum and
// average alone. kernels::LrnParams: inputs: x. y = x / (bias + alpha/size sum of squares over
// channels) ^ beta. kernels::RecurrentParams: inputs and outputs of LSTM (or the first of them)
// with all sizes filled in. kernels::ResizeParams: inputs: x. Nearest of any type of whole bytes,
// the others of float32.
using KernelParams =
    std::variant<FusedConvParams, ConvTransposeParams, FusedMatMulParams,
                 kernels::FusedAttentionParams, kernels::PoolParams, UnaryParams, BinaryParams,
                 AffineParams, SoftmaxParams, LayerNormParams, GlobalMeanParams, ReduceMeanParams,
                 TransposeParams, ReorderParams, ConcatParams, SplitParams, GatherParams,
                 kernels::LrnParams, kernels::RecurrentParams, TreesParams, RegionParams,
                 kernels::ResizeParams, TopKParams>;

struct KernelCall {
  KernelParams params;
  std::vector<TensorDesc> inputs;
  std::vector<TensorDesc> outputs;

  bool has_input(size_t index) const { return index < inputs.size() && inputs[index].present(); }
  // Every input and output that is present has this element type.
  bool All(DType dtype) const;
};

}  // namespace kheya

#endif  // KHEYA_KERNELS_CALL_H_
