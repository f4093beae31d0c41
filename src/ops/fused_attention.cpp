// kheya.FusedAttention: y = softmax(scale q k^T + mask) v for each head, with q, k and v as
// [batch, heads, length, size], or as columns of [batch, length, columns]: from column `offsets[i]`
// on, `num_heads` times `qk_size` (v: `v_size`) of them. y is [batch, length, heads * v_size] where
// `merge_heads`, else [batch, heads, length, v_size]. The mask broadcasts to the scores
// [batch, heads, queries, keys]; one of bool has scores it hides become `masked_score`.
// `undefined_rows` is a kernels::UndefinedRows.
#include "ops/fused_attention.h"

#include "base/checked_math.h"
#include "kernels/reference/fused_attention.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

enum Input { kQ, kK, kV, kMask };

constexpr ParamDef kInputs[] = {{"Q", types::kFloat, 'T'},
                                {"K", types::kFloat, 'T'},
                                {"V", types::kFloat, 'T'},
                                {"mask", types::kFloat | types::kBool, '\0', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"Y", types::kFloat, 'T'}};
constexpr AttributeDef kAttributes[] = {
    {"causal", AttributeKind::kInt},      {"masked_score", AttributeKind::kFloat},
    {"merge_heads", AttributeKind::kInt}, {"num_heads", AttributeKind::kInt},
    {"offsets", AttributeKind::kInts},    {"qk_size", AttributeKind::kInt},
    {"scale", AttributeKind::kFloat},     {"undefined_rows", AttributeKind::kInt},
    {"v_size", AttributeKind::kInt}};

// Heads of one operand, in its memory.
struct Operand {
  int64_t batch = 0, heads = 0, length = 0, size = 0, offset = 0;
  kernels::HeadStrides strides;
};

Result<Operand> ReadOperand(const AttributeReader& attributes, const Shape& shape, int index) {
  const std::vector<int64_t> offsets = attributes.Ints("offsets");
  const int64_t offset = offsets.size() == 3 ? offsets[index] : 0;
  if (shape.rank() == 4 && offset == 0) {
    return Operand{shape[0], shape[1], shape[2],
                   shape[3], 0,        {shape.Product(1, 4), shape.Product(2, 4), shape[3]}};
  }
  if (shape.rank() != 3 && shape.rank() != 4) {
    return InvalidArgumentError("found an operand of shape {}, expected rank 3 or 4",
                                shape.ToString());
  }
  const int64_t heads = attributes.Int("num_heads", 0);
  const int64_t size = attributes.Int(index == kV ? "v_size" : "qk_size", 0);
  int64_t end = 0;
  if (shape.rank() != 3 || heads < 1 || size < 0 || offset < 0 || !CheckedMul(heads, size, &end) ||
      !CheckedAdd(end, offset, &end) || end > shape[2]) {
    return InvalidArgumentError("found operand {} of shape {} with {} heads of {} from column {}",
                                index, shape.ToString(), heads, size, offset);
  }
  return Operand{shape[0], heads, shape[1], size, offset, {shape[1] * shape[2], size, shape[2]}};
}

Status SetMask(const Shape& shape, kernels::FusedAttentionParams* params) {
  const int64_t full[] = {params->batch, params->heads, params->queries, params->keys};
  int64_t strides[4] = {};
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const int place = axis + 4 - shape.rank();
    if (place < 0 || (shape[axis] != 1 && shape[axis] != full[place])) {
      return InvalidArgumentError("found a mask of shape {}, expected one that broadcasts to {}",
                                  shape.ToString(),
                                  fmt::format("{}x{}x{}x{}", full[0], full[1], full[2], full[3]));
    }
    strides[place] = shape[axis] == 1 ? 0 : stride;
    stride *= shape[axis];
  }
  params->mask_strides = {strides[0], strides[1], strides[2]};
  params->mask_key_stride = strides[3];
  return OkStatus();
}

Status ReadRows(const AttributeReader& attributes, kernels::FusedAttentionParams* params) {
  const int64_t rows = attributes.Int("undefined_rows", 0);
  if (rows < 0 || rows > 2) {
    return InvalidArgumentError("found undefined_rows {}, expected 0 to 2", rows);
  }
  params->undefined = static_cast<kernels::UndefinedRows>(rows);
  params->scale = attributes.Float("scale", 1);
  params->causal = attributes.Int("causal", 0) != 0;
  params->masked_score = attributes.Float("masked_score", 0);
  return OkStatus();
}

Dim HeadDim(const AttributeReader& attributes, const SymbolicShape& shape, const char* size) {
  return shape.size() == 4 ? shape[3] : Dim(attributes.Int(size, 0));
}

Status Infer(InferContext& context) {
  const AttributeReader attributes = context.attributes();
  for (const char* name : {"num_heads", "qk_size", "v_size"}) {
    if (const int64_t found = attributes.Int(name, 0); found < 0) {
      return InvalidArgumentError("found {} {}, expected 0 or more", name, found);
    }
  }
  const SymbolicShape* q = context.input_shape(kQ);
  const SymbolicShape* v = context.input_shape(kV);
  if (q == nullptr || v == nullptr) {
    return context.SetOutput(0, context.input_dtype(kQ), std::nullopt);
  }
  for (const SymbolicShape* shape : {q, v}) {
    if (shape->size() != 3 && shape->size() != 4) {
      return InvalidArgumentError("found an operand of shape {}, expected rank 3 or 4",
                                  ToString(*shape));
    }
  }
  const Dim size = HeadDim(attributes, *v, "v_size");
  const Dim heads = q->size() == 4 ? (*q)[1] : Dim(attributes.Int("num_heads", 0));
  const Dim length = q->size() == 4 ? (*q)[2] : (*q)[1];
  SymbolicShape y = {(*q)[0], heads, length, size};
  if (attributes.Int("merge_heads", 0) != 0) y = {(*q)[0], length, heads * size};
  return context.SetOutput(0, context.input_dtype(kQ), std::move(y));
}

Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor q, WideInput(context, kQ));
  KHEYA_ASSIGN_OR_RETURN(const Tensor k, WideInput(context, kK));
  KHEYA_ASSIGN_OR_RETURN(const Tensor v, WideInput(context, kV));
  Tensor mask;
  if (context.has_input(kMask)) {
    mask = context.input(kMask);
    if (mask.dtype() != DType::kBool) {
      KHEYA_ASSIGN_OR_RETURN(mask, WideInput(context, kMask));
    }
    if (mask.dtype() != DType::kBool && mask.dtype() != q.dtype()) {
      return InvalidArgumentError("found a mask of {}, expected bool or {}", mask.TypeString(),
                                  DTypeName(q.dtype()));
    }
  }
  const Shape* mask_shape = mask.defined() ? &mask.shape() : nullptr;
  KHEYA_ASSIGN_OR_RETURN(
      const FusedAttention read,
      ReadFusedAttention(context.attributes(), q.shape(), k.shape(), v.shape(), mask_shape));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(kQ).dtype(), read.output));
  KHEYA_RETURN_IF_ERROR(
      kernels::FusedAttention(read.params, q.view(), k.view(), v.view(), mask.view(), y.view()));
  return y.Finish();
}

std::optional<int64_t> Macs(const Graph& graph, const Node& node) {
  std::optional<Shape> shapes[3];
  for (size_t i = 0; i < 3; ++i) {
    shapes[i] = graph.value(node.inputs[i]).type.KnownShape();
    if (!shapes[i]) return std::nullopt;
  }
  const auto read =
      ReadFusedAttention(AttributeReader(node), *shapes[0], *shapes[1], *shapes[2], nullptr);
  if (!read.ok()) return std::nullopt;
  const kernels::FusedAttentionParams& p = read->params;
  int64_t macs = p.qk_size + p.v_size;
  for (int64_t factor : {p.batch, p.heads, p.queries, p.keys}) {
    if (!CheckedMul(macs, factor, &macs)) return std::nullopt;
  }
  return macs;
}

}  // namespace

Result<FusedAttention> ReadFusedAttention(const AttributeReader& attributes, const Shape& q,
                                          const Shape& k, const Shape& v, const Shape* mask) {
  KHEYA_ASSIGN_OR_RETURN(const Operand query, ReadOperand(attributes, q, kQ));
  KHEYA_ASSIGN_OR_RETURN(const Operand key, ReadOperand(attributes, k, kK));
  KHEYA_ASSIGN_OR_RETURN(const Operand value, ReadOperand(attributes, v, kV));
  if (query.batch != key.batch || query.batch != value.batch || query.heads != key.heads ||
      query.heads != value.heads || query.size != key.size || key.length != value.length) {
    return InvalidArgumentError("found Q {}, K {} and V {}, expected the same batch, heads and {}",
                                q.ToString(), k.ToString(), v.ToString(), "sizes");
  }
  FusedAttention found;
  kernels::FusedAttentionParams& p = found.params;
  p.batch = query.batch;
  p.heads = query.heads;
  p.queries = query.length;
  p.keys = key.length;
  p.qk_size = query.size;
  p.v_size = value.size;
  p.q_offset = query.offset;
  p.k_offset = key.offset;
  p.v_offset = value.offset;
  p.q_strides = query.strides;
  p.k_strides = key.strides;
  p.v_strides = value.strides;
  KHEYA_RETURN_IF_ERROR(ReadRows(attributes, &p));
  if (mask != nullptr) KHEYA_RETURN_IF_ERROR(SetMask(*mask, &p));
  int64_t hidden = 0;
  if (!CheckedMul(p.heads, p.v_size, &hidden)) {
    return InvalidArgumentError("found {} heads of {}, which is too many", p.heads, p.v_size);
  }
  const bool merge = attributes.Int("merge_heads", 0) != 0;
  const std::vector<int64_t> dims = merge ? std::vector{p.batch, p.queries, hidden}
                                          : std::vector{p.batch, p.heads, p.queries, p.v_size};
  KHEYA_ASSIGN_OR_RETURN(found.output, Shape::Create(dims));
  p.y_strides =
      merge ? kernels::HeadStrides{p.queries * hidden, p.v_size, hidden}
            : kernels::HeadStrides{p.heads * p.queries * p.v_size, p.queries * p.v_size, p.v_size};
  return found;
}

extern const OpDef kFusedAttentionOp;
const OpDef kFusedAttentionOp = {.domain = kInternalDomain,
                                 .name = "FusedAttention",
                                 .category = "fused",
                                 .inputs = kInputs,
                                 .outputs = kOutputs,
                                 .attributes = kAttributes,
                                 .infer = Infer,
                                 .evaluate = Evaluate,
                                 .macs = Macs};

}  // namespace kheya
