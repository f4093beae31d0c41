// RNN, GRU, LSTM and kheya.RoundedStateLSTM.
#include "kernels/reference/recurrent.h"

#include <vector>

#include "ops/axes.h"
#include "ops/op.h"
#include "ops/recurrent_attributes.h"
#include "ops/wide.h"

namespace kheya {
namespace {

using kernels::Cell;

enum Input { kX, kW, kR, kBias, kLengths, kH, kC, kPeepholes };

constexpr TypeMask kInt32 = MaskOf({DType::kInt32});
constexpr ParamDef kLstmInputs[] = {{"X", types::kFloat, 'T'},
                                    {"W", types::kFloat, 'T'},
                                    {"R", types::kFloat, 'T'},
                                    {"B", types::kFloat, 'T', Presence::kOptional},
                                    {"sequence_lens", kInt32, '\0', Presence::kOptional},
                                    {"initial_h", types::kFloat, 'T', Presence::kOptional},
                                    {"initial_c", types::kFloat, 'T', Presence::kOptional},
                                    {"P", types::kFloat, 'T', Presence::kOptional}};
constexpr std::span<const ParamDef> kInputs = std::span(kLstmInputs).first(6);
constexpr ParamDef kLstmOutputs[] = {{"Y", types::kFloat, 'T', Presence::kOptional},
                                     {"Y_h", types::kFloat, 'T', Presence::kOptional},
                                     {"Y_c", types::kFloat, 'T', Presence::kOptional}};
constexpr std::span<const ParamDef> kOutputs = std::span(kLstmOutputs).first(2);
constexpr AttributeDef kRnnAttributes[] = {{"activation_alpha", AttributeKind::kFloats},
                                           {"activation_beta", AttributeKind::kFloats},
                                           {"activations", AttributeKind::kStrings},
                                           {"clip", AttributeKind::kFloat},
                                           {"direction", AttributeKind::kString},
                                           {"hidden_size", AttributeKind::kInt},
                                           {"layout", AttributeKind::kInt}};
constexpr AttributeDef kGruAttributes[] = {{"activation_alpha", AttributeKind::kFloats},
                                           {"activation_beta", AttributeKind::kFloats},
                                           {"activations", AttributeKind::kStrings},
                                           {"clip", AttributeKind::kFloat},
                                           {"direction", AttributeKind::kString},
                                           {"hidden_size", AttributeKind::kInt},
                                           {"layout", AttributeKind::kInt},
                                           {"linear_before_reset", AttributeKind::kInt}};
constexpr AttributeDef kLstmAttributes[] = {
    {"activation_alpha", AttributeKind::kFloats}, {"activation_beta", AttributeKind::kFloats},
    {"activations", AttributeKind::kStrings},     {"clip", AttributeKind::kFloat},
    {"direction", AttributeKind::kString},        {"hidden_size", AttributeKind::kInt},
    {"input_forget", AttributeKind::kInt},        {"layout", AttributeKind::kInt}};

int64_t GatesOf(Cell cell) { return cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1; }

template <Cell cell>
Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const kernels::RecurrentParams params,
                         ReadRecurrent(context.attributes(), cell));
  const auto directions = static_cast<int64_t>(params.directions.size());
  const SymbolicShape* x = context.input_shape(kX);
  const SymbolicShape* r = context.input_shape(kR);
  Dim length, batch, hidden;
  if (x != nullptr && x->size() == 3) {
    length = (*x)[params.batch_first ? 1 : 0];
    batch = (*x)[params.batch_first ? 0 : 1];
  }
  if (r != nullptr && r->size() == 3) hidden = (*r)[2];
  const DType dtype = context.input_dtype(kX);
  const SymbolicShape state = params.batch_first ? SymbolicShape{batch, directions, hidden}
                                                 : SymbolicShape{directions, batch, hidden};
  KHEYA_RETURN_IF_ERROR(context.SetOutput(0, dtype,
                                          params.batch_first
                                              ? SymbolicShape{batch, length, directions, hidden}
                                              : SymbolicShape{length, directions, batch, hidden}));
  KHEYA_RETURN_IF_ERROR(context.SetOutput(1, dtype, state));
  return context.SetOutput(2, dtype, state);
}

Status CheckShape(const EvalContext& context, int index, const char* name, const Shape& expected) {
  if (!context.has_input(index) || context.input(index).shape() == expected) return OkStatus();
  return InvalidArgumentError("found {} {}, expected {}", name,
                              context.input(index).shape().ToString(), expected.ToString());
}

// Fills in the sizes and checks every input against them.
Status ReadSizes(const EvalContext& context, kernels::RecurrentParams& params) {
  const Shape& x = context.input(kX).shape();
  const Shape& r = context.input(kR).shape();
  if (x.rank() != 3 || r.rank() != 3) {
    return InvalidArgumentError("found X {} and R {}, expected rank 3", x.ToString(), r.ToString());
  }
  params.length = x[params.batch_first ? 1 : 0];
  params.batch = x[params.batch_first ? 0 : 1];
  params.input = x[2];
  params.hidden = r[2];
  const int64_t hidden = context.attributes().Int("hidden_size", params.hidden);
  if (hidden != params.hidden) {
    return InvalidArgumentError("found hidden_size {} and R {}, expected equal sizes", hidden,
                                r.ToString());
  }
  const auto directions = static_cast<int64_t>(params.directions.size());
  const int64_t gates = GatesOf(params.cell);
  KHEYA_ASSIGN_OR_RETURN(const Shape rows, Shape::Create(std::vector{2 * gates, params.hidden}));
  const int64_t row_count = rows.num_elements() / 2;
  const Shape state = params.batch_first ? Shape{params.batch, directions, params.hidden}
                                         : Shape{directions, params.batch, params.hidden};
  KHEYA_RETURN_IF_ERROR(CheckShape(context, kW, "W", {directions, row_count, params.input}));
  KHEYA_RETURN_IF_ERROR(CheckShape(context, kR, "R", {directions, row_count, params.hidden}));
  KHEYA_RETURN_IF_ERROR(CheckShape(context, kBias, "B", {directions, 2 * row_count}));
  KHEYA_RETURN_IF_ERROR(CheckShape(context, kLengths, "sequence_lens", {params.batch}));
  KHEYA_RETURN_IF_ERROR(CheckShape(context, kH, "initial_h", state));
  KHEYA_RETURN_IF_ERROR(CheckShape(context, kC, "initial_c", state));
  return CheckShape(context, kPeepholes, "P", {directions, 3 * params.hidden});
}

Result<std::vector<int64_t>> Lengths(const EvalContext& context, int64_t longest) {
  if (!context.has_input(kLengths)) return std::vector<int64_t>();
  KHEYA_ASSIGN_OR_RETURN(std::vector<int64_t> lengths, IntListInput(context, kLengths));
  for (int64_t length : lengths) {
    if (length >= 0 && length <= longest) continue;
    return InvalidArgumentError("found a sequence length of {}, expected 0 to {}", length, longest);
  }
  return lengths;
}

// The outputs that are wanted.
class Results {
 public:
  static Result<Results> Create(EvalContext& context, const kernels::RecurrentParams& params) {
    const auto directions = static_cast<int64_t>(params.directions.size());
    const std::vector<int64_t> y =
        params.batch_first ? std::vector{params.batch, params.length, directions, params.hidden}
                           : std::vector{params.length, directions, params.batch, params.hidden};
    const std::vector<int64_t> state = params.batch_first
                                           ? std::vector{params.batch, directions, params.hidden}
                                           : std::vector{directions, params.batch, params.hidden};
    Results results;
    for (int i = 0; i < 3; ++i) {
      if (!context.wants_output(i)) continue;
      KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(i == 0 ? y : state));
      KHEYA_ASSIGN_OR_RETURN(results.outputs_[i],
                             WideOutput::Create(context, i, context.input(kX).dtype(), shape));
      results.wanted_[i] = true;
    }
    return results;
  }
  kernels::RecurrentOutputs views() const {
    return {outputs_[0].view(), outputs_[1].view(), outputs_[2].view()};
  }
  Status Finish() {
    for (int i = 0; i < 3; ++i) {
      if (wanted_[i]) KHEYA_RETURN_IF_ERROR(outputs_[i].Finish());
    }
    return OkStatus();
  }

 private:
  std::array<WideOutput, 3> outputs_;
  std::array<bool, 3> wanted_ = {};
};

template <Cell cell, bool rounded_states = false>
Status Evaluate(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(kernels::RecurrentParams params,
                         ReadRecurrent(context.attributes(), cell));
  params.quantize_states = rounded_states;
  KHEYA_RETURN_IF_ERROR(ReadSizes(context, params));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, Lengths(context, params.length));
  std::array<Tensor, 8> wide;
  for (int i = 0; i < static_cast<int>(wide.size()); ++i) {
    if (i == kLengths) continue;
    KHEYA_ASSIGN_OR_RETURN(wide[i], WideInput(context, i));
  }
  const kernels::RecurrentInputs inputs = {
      wide[kX].view(),         wide[kW].view(), wide[kR].view(), wide[kBias].view(),
      wide[kPeepholes].view(), wide[kH].view(), wide[kC].view(), lengths};
  KHEYA_ASSIGN_OR_RETURN(Results results, Results::Create(context, params));
  KHEYA_RETURN_IF_ERROR(kernels::Recurrent(params, inputs, results.views()));
  return results.Finish();
}

template <Cell cell>
constexpr OpDef Op(const char* name, std::span<const ParamDef> inputs,
                   std::span<const ParamDef> outputs, std::span<const AttributeDef> attributes) {
  return {.domain = "",
          .name = name,
          .category = "recurrent",
          .inputs = inputs,
          .outputs = outputs,
          .attributes = attributes,
          .infer = Infer<cell>,
          .evaluate = Evaluate<cell>};
}

}  // namespace

extern const OpDef kGRUOp;
const OpDef kGRUOp = Op<Cell::kGru>("GRU", kInputs, kOutputs, kGruAttributes);
extern const OpDef kLSTMOp;
const OpDef kLSTMOp = Op<Cell::kLstm>("LSTM", kLstmInputs, kLstmOutputs, kLstmAttributes);
// LSTM whose states are rounded as DynamicQuantizeLinear does before they meet R.
extern const OpDef kRoundedStateLSTMOp;
const OpDef kRoundedStateLSTMOp = {.domain = kInternalDomain,
                                   .name = "RoundedStateLSTM",
                                   .category = "recurrent",
                                   .inputs = kLstmInputs,
                                   .outputs = kLstmOutputs,
                                   .attributes = kLstmAttributes,
                                   .infer = Infer<Cell::kLstm>,
                                   .evaluate = Evaluate<Cell::kLstm, true>};
extern const OpDef kRNNOp;
const OpDef kRNNOp = Op<Cell::kRnn>("RNN", kInputs, kOutputs, kRnnAttributes);

}  // namespace kheya
