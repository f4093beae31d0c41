// GatherBlockQuantized: rows of a table of quantized numbers, dequantized in blocks.
#include "ops/axes.h"
#include "ops/microsoft/microsoft_op.h"

namespace kheya {
namespace {

enum Input { kData, kIndices, kScales, kZeros };

constexpr TypeMask kStored = MaskOf({DType::kInt4, DType::kUint4, DType::kUint8});
constexpr TypeMask kReal = MaskOf({DType::kFloat32, DType::kFloat16, DType::kBFloat16});
constexpr ParamDef kInputs[] = {{"data", kStored, 'D'},
                                {"indices", types::kIndex},
                                {"scales", kReal, 'T'},
                                {"zero_points", kStored, 'D', Presence::kOptional}};
constexpr ParamDef kOutputs[] = {{"output", kReal, 'T'}};
constexpr AttributeDef kAttributes[] = {{"bits", AttributeKind::kInt},
                                        {"block_size", AttributeKind::kInt},
                                        {"gather_axis", AttributeKind::kInt},
                                        {"quantize_axis", AttributeKind::kInt}};

struct Axes {
  int rank = 0;
  int gather = 0;
  int quantize = 0;
};

Result<Axes> ReadAxes(const Expansion& e) {
  Axes axes = {*e.RankOf(kData), 0, 0};
  KHEYA_ASSIGN_OR_RETURN(axes.gather,
                         NormalizeAxis(e.attributes().Int("gather_axis", 0), axes.rank));
  KHEYA_ASSIGN_OR_RETURN(axes.quantize,
                         NormalizeAxis(e.attributes().Int("quantize_axis", 1), axes.rank));
  if (axes.gather == axes.quantize) {
    return UnimplementedError("gathering on the axis {} of the blocks is not supported",
                              axes.quantize);
  }
  return axes;
}

// Bytes as the two numbers of 4 bits that they hold, along the last axis, low bits first.
ValueId Unpacked(Expansion& e, ValueId bytes, int rank) {
  const ValueId low = e.Call("BitwiseAnd", {bytes, e.Constant(Tensor::Scalar<uint8_t>(15))});
  const ValueId high = e.Call("BitShift", {bytes, e.Constant(Tensor::Scalar<uint8_t>(4))},
                              {{"direction", std::string("RIGHT")}});
  const ValueId behind = e.Ints({rank});
  const ValueId pairs =
      e.Call("Concat", {e.Call("Unsqueeze", {low, behind}), e.Call("Unsqueeze", {high, behind})},
             {{"axis", int64_t{rank}}});
  std::vector<int64_t> shape(static_cast<size_t>(rank), 0);
  shape.back() = -1;
  return e.Call("Reshape", {pairs, e.Ints(std::move(shape))});
}

// Numbers of a type of 8 bits.
ValueId Bytes(Expansion& e, int input, const Axes& axes) {
  const DType dtype = e.TypeOf(input);
  if (dtype == DType::kInt4) return e.Cast(e.In(input), dtype, DType::kInt8);
  if (dtype == DType::kUint4) return e.Cast(e.In(input), dtype, DType::kUint8);
  if (e.attributes().Int("bits", 4) == 8) return e.In(input);
  return Unpacked(e, e.In(input), axes.rank);
}

// Zero points as many as scales: where their number is odd, the last 4 bits are none.
ValueId ZeroPoints(Expansion& e, const Axes& axes) {
  const ValueId all = Bytes(e, kZeros, axes);
  const int64_t axis = axes.quantize;
  const ValueId count = e.Call("Shape", {e.In(kScales)}, {{"end", axis + 1}, {"start", axis}});
  return e.Call("Slice", {all, e.Ints({0}), count, e.Ints({axis})});
}

Status Expand(Expansion& e) {
  if (!e.RankOf(kData) || !e.RankOf(kIndices)) {
    e.GiveType(0, e.TypeOf(kScales));
    return OkStatus();
  }
  KHEYA_ASSIGN_OR_RETURN(const Axes axes, ReadAxes(e));
  const int64_t bits = e.attributes().Int("bits", 4);
  const bool packed = e.TypeOf(kData) == DType::kUint8;
  if (packed && bits != 4 && bits != 8) {
    return UnimplementedError("numbers of {} bits are not supported", bits);
  }
  if (packed && axes.quantize != axes.rank - 1) {
    return InvalidArgumentError("found blocks on axis {} of bytes, expected the last axis",
                                axes.quantize);
  }
  const auto gather = [&](ValueId table) {
    return e.Call("Gather", {table, e.In(kIndices)}, {{"axis", int64_t{axes.gather}}});
  };
  ValueId data = gather(Bytes(e, kData, axes));
  ValueId zeros;
  if (e.Has(kZeros)) {
    zeros = gather(ZeroPoints(e, axes));
  } else if (packed) {  // half of the range
    const double half = static_cast<double>(int64_t{1} << (bits - 1));
    data =
        e.Call("Sub", {e.Cast(data, DType::kUint8, DType::kInt32), e.Number(half, DType::kInt32)});
  }
  // The gathered axis has become as many as the indices have.
  const int64_t axis =
      axes.quantize < axes.gather ? axes.quantize : axes.quantize + *e.RankOf(kIndices) - 1;
  e.Give(0, e.Call("DequantizeLinear", {data, gather(e.In(kScales)), zeros},
                   {{"axis", axis}, {"block_size", e.attributes().Int("block_size", 128)}}));
  return OkStatus();
}

}  // namespace

extern const OpDef kGatherBlockQuantizedOp;
const OpDef kGatherBlockQuantizedOp =
    MicrosoftOp<Expand>("GatherBlockQuantized", "quantization", kInputs, kOutputs, kAttributes);

}  // namespace kheya
