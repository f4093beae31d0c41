// MatMulNBits and MatMulBnb4: products with weights of a few bits in blocks.
#include <bit>

#include "base/checked_math.h"
#include "kernels/reference/matmul.h"
#include "kernels/reference/movement.h"
#include "kernels/reference/packed_weights.h"
#include "ops/microsoft/microsoft_op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

using kernels::BlockLayout;

constexpr TypeMask kTypes = MaskOf({DType::kFloat32, DType::kFloat16, DType::kBFloat16});
constexpr TypeMask kUint8 = MaskOf({DType::kUint8});
constexpr ParamDef kInputs[] = {{"A", kTypes, 'T'},
                                {"B", kUint8},
                                {"scales", kTypes, 'T'},
                                {"zero_points", kUint8 | kTypes, '\0', Presence::kOptional},
                                {"g_idx", kInt32, '\0', Presence::kOptional},
                                {"bias", kTypes, 'T', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"Y", kTypes, 'T'}};
constexpr AttributeDef kAttributes[] = {
    {"K", AttributeKind::kInt, true},          {"N", AttributeKind::kInt, true},
    {"accuracy_level", AttributeKind::kInt},   {"bits", AttributeKind::kInt},
    {"block_size", AttributeKind::kInt, true}, {"weight_prepacked", AttributeKind::kInt}};
constexpr ParamDef kBnbInputs[] = {{"A", kTypes, 'T'}, {"B", kUint8}, {"absmax", kTypes, 'T'}};
constexpr AttributeDef kBnbAttributes[] = {
    {"K", AttributeKind::kInt, true},          {"N", AttributeKind::kInt, true},
    {"block_size", AttributeKind::kInt, true}, {"quant_type", AttributeKind::kInt, true},
    {"training_mode", AttributeKind::kInt},    {"transB", AttributeKind::kInt}};

Result<BlockLayout> LayoutOf(const AttributeReader& attributes) {
  const BlockLayout layout = {attributes.Int("N", 0), attributes.Int("K", 0),
                              attributes.Int("block_size", 0),
                              static_cast<int>(attributes.Int("bits", 4))};
  constexpr int64_t kMost = int64_t{1} << 40;
  if (layout.columns < 1 || layout.rows < 1 || layout.columns > kMost / layout.rows) {
    return InvalidArgumentError("found N {} and K {}", layout.columns, layout.rows);
  }
  if (layout.block < 16 || layout.block > kMost / layout.columns ||
      !std::has_single_bit(static_cast<uint64_t>(layout.block))) {
    return InvalidArgumentError("found block_size {}, expected a power of 2 from 16", layout.block);
  }
  const int64_t bits = attributes.Int("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) {
    return UnimplementedError("found weights of {} bits, supported are 2, 4 and 8", bits);
  }
  return layout;
}

// A's last axis becomes N.
Status InferProduct(InferContext& context) {
  std::optional<SymbolicShape> shape;
  const int64_t rows = context.attributes().Int("K", 0);
  if (const SymbolicShape* a = context.input_shape(0)) {
    if (a->empty() || (a->back().known() && a->back().value() != rows)) {
      return InvalidArgumentError("found A of shape {}, expected {} on its last axis", ToString(*a),
                                  rows);
    }
    shape = *a;
    shape->back() = context.attributes().Int("N", 0);
  }
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Status CheckCount(const EvalContext& context, int input, int64_t expected) {
  const int64_t found = context.input(input).num_elements();
  if (found == expected) return OkStatus();
  return InvalidArgumentError("found input {} of {} elements, expected {}", input, found, expected);
}

// y = a b + bias, b [K, N].
Status Multiply(EvalContext& context, const Tensor& b, const Tensor& bias) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor a, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(const kernels::MatMulShapes shapes,
                         kernels::MatMulShapesOf(a.shape(), b.shape()));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shapes.output));
  KHEYA_RETURN_IF_ERROR(kernels::MatMul(shapes, a.view(), b.view(), y.view()));
  if (bias.defined()) {
    const auto from = bias.data<float>();
    const auto to = y.view().as<float>();
    for (size_t i = 0; i < to.size(); ++i) to[i] += from[i % from.size()];
  }
  return y.Finish();
}

// The block of each row of the weights: by g_idx, or in order.
Result<std::vector<int64_t>> BlocksOf(const EvalContext& context, const BlockLayout& layout) {
  std::vector<int64_t> blocks;
  if (!context.has_input(4)) {
    for (int64_t row = 0; row < layout.rows; ++row) blocks.push_back(row / layout.block);
    return blocks;
  }
  const auto given = context.input(4).data<int32_t>();
  if (static_cast<int64_t>(given.size()) < layout.rows) {
    return InvalidArgumentError("found g_idx of {} elements, expected {}", given.size(),
                                layout.rows);
  }
  for (const int32_t block : given.first(static_cast<size_t>(layout.rows))) {
    if (block < 0 || block >= layout.blocks()) {
      return InvalidArgumentError("found {} in g_idx, expected one in [0, {})", block,
                                  layout.blocks());
    }
    blocks.push_back(block);
  }
  return blocks;
}

// One number for each column and block; by default half of the range.
Result<std::vector<float>> ZeroPoints(EvalContext& context, const BlockLayout& layout) {
  const auto count = static_cast<size_t>(layout.columns * layout.blocks());
  if (!context.has_input(3)) {
    return std::vector<float>(count, static_cast<float>(1 << (layout.bits - 1)));
  }
  if (context.input(3).dtype() == DType::kUint8) {
    KHEYA_RETURN_IF_ERROR(CheckCount(context, 3, layout.columns * layout.zero_bytes()));
    return kernels::UnpackZeroPoints(layout, context.input(3).data<uint8_t>());
  }
  KHEYA_RETURN_IF_ERROR(CheckCount(context, 3, layout.columns * layout.blocks()));
  KHEYA_ASSIGN_OR_RETURN(const Tensor wide, WideInput(context, 3));
  const auto values = wide.data<float>();
  return std::vector<float>(values.begin(), values.end());
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const BlockLayout layout, LayoutOf(context.attributes()));
  if (context.attributes().Int("weight_prepacked", 0) != 0) {
    return UnimplementedError("weights in the order of one kind of device are not supported");
  }
  KHEYA_RETURN_IF_ERROR(CheckCount(context, 1, layout.columns * layout.column_bytes()));
  KHEYA_RETURN_IF_ERROR(CheckCount(context, 2, layout.columns * layout.blocks()));
  if (context.has_input(5)) KHEYA_RETURN_IF_ERROR(CheckCount(context, 5, layout.columns));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> blocks, BlocksOf(context, layout));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<float> zeros, ZeroPoints(context, layout));
  KHEYA_ASSIGN_OR_RETURN(const Tensor scales, WideInput(context, 2));
  KHEYA_ASSIGN_OR_RETURN(const Tensor bias, WideInput(context, 5));
  KHEYA_ASSIGN_OR_RETURN(
      Tensor b,
      Tensor::Allocate(DType::kFloat32, Shape{layout.rows, layout.columns}, context.budget()));
  kernels::UnpackBlocks(layout, blocks, context.input(1).data<uint8_t>(), scales.data<float>(),
                        zeros, b.mutable_data<float>());
  return Multiply(context, b, bias);
}

Status EvaluateBnb(EvalContext& context) {
  const AttributeReader attributes = context.attributes();
  KHEYA_ASSIGN_OR_RETURN(const BlockLayout layout, LayoutOf(attributes));
  const int64_t type = attributes.Int("quant_type", 0);
  if (type != 0 && type != 1) {
    return InvalidArgumentError("found quant_type {}, expected 0 (FP4) or 1 (NF4)", type);
  }
  if (attributes.Int("transB", 1) == 0) {
    return UnimplementedError("transB 0 is not supported");
  }
  const int64_t count = layout.columns * layout.rows;
  KHEYA_RETURN_IF_ERROR(CheckCount(context, 1, (count + 1) / 2));
  KHEYA_RETURN_IF_ERROR(CheckCount(context, 2, (count + layout.block - 1) / layout.block));
  KHEYA_ASSIGN_OR_RETURN(const Tensor scales, WideInput(context, 2));
  KHEYA_ASSIGN_OR_RETURN(
      Tensor b,
      Tensor::Allocate(DType::kFloat32, Shape{layout.rows, layout.columns}, context.budget()));
  kernels::UnpackFourBitFloats(layout, type == 1, context.input(1).data<uint8_t>(),
                               scales.data<float>(), b.mutable_data<float>());
  return Multiply(context, b, Tensor());
}

std::optional<int64_t> Macs(const Graph& graph, const Node& node) {
  const std::optional<Shape> y = graph.value(node.outputs[0]).type.KnownShape();
  int64_t macs = 0;
  if (!y || !CheckedMul(y->num_elements(), AttributeReader(node).Int("K", 0), &macs)) {
    return std::nullopt;
  }
  return macs;
}

}  // namespace

extern const OpDef kMatMulNBitsOp;
const OpDef kMatMulNBitsOp = {.domain = kMicrosoftDomain,
                              .name = "MatMulNBits",
                              .category = "quantization",
                              .inputs = kInputs,
                              .outputs = kOutputs,
                              .attributes = kAttributes,
                              .infer = InferProduct,
                              .evaluate = Evaluate,
                              .macs = Macs};
extern const OpDef kMatMulBnb4Op;
const OpDef kMatMulBnb4Op = {.domain = kMicrosoftDomain,
                             .name = "MatMulBnb4",
                             .category = "quantization",
                             .inputs = kBnbInputs,
                             .outputs = kOutputs,
                             .attributes = kBnbAttributes,
                             .infer = InferProduct,
                             .evaluate = EvaluateBnb,
                             .macs = Macs};

}  // namespace kheya
