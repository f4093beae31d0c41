// DFT, STFT, HannWindow, HammingWindow, BlackmanWindow and MelWeightMatrix.
#include "kernels/reference/signal.h"

#include <vector>

#include "base/checked_math.h"
#include "kernels/reference/cast.h"
#include "kernels/reference/quantize.h"
#include "ops/axes.h"
#include "ops/op.h"
#include "ops/wide.h"

namespace kheya {
namespace {

constexpr ParamDef kDftInputs[] = {{"input", types::kFloat, 'T'},
                                   {"dft_length", types::kIndex, '\0', Presence::kOptional},
                                   {"axis", types::kInt64, '\0', Presence::kOptional}};
constexpr ParamDef kOutput[] = {{"output", types::kFloat, 'T'}};
constexpr AttributeDef kDftAttributes[] = {{"inverse", AttributeKind::kInt},
                                           {"onesided", AttributeKind::kInt}};
constexpr ParamDef kStftInputs[] = {{"signal", types::kFloat, 'T'},
                                    {"frame_step", types::kIndex, 'I'},
                                    {"window", types::kFloat, 'T', Presence::kOptional},
                                    {"frame_length", types::kIndex, 'I', Presence::kOptional}};
constexpr AttributeDef kStftAttributes[] = {{"onesided", AttributeKind::kInt}};
constexpr ParamDef kSize[] = {{"size", types::kIndex}};
constexpr ParamDef kNumbers[] = {{"output", types::kNumeric}};
constexpr AttributeDef kWindowAttributes[] = {{"output_datatype", AttributeKind::kInt},
                                              {"periodic", AttributeKind::kInt}};
constexpr ParamDef kMelInputs[] = {{"num_mel_bins", types::kIndex, 'I'},
                                   {"dft_length", types::kIndex, 'I'},
                                   {"sample_rate", types::kIndex, 'I'},
                                   {"lower_edge_hertz", types::kFloat, 'F'},
                                   {"upper_edge_hertz", types::kFloat, 'F'}};
constexpr AttributeDef kMelAttributes[] = {{"output_datatype", AttributeKind::kInt}};

// No transform is longer.
constexpr int64_t kMaxLength = int64_t{1} << 28;

Status CheckLength(int64_t length) {
  if (length >= 1 && length <= kMaxLength) return OkStatus();
  return InvalidArgumentError("found a transform of {} places, expected 1 to {}", length,
                              kMaxLength);
}

Result<Reservation> TransformMemory(const EvalContext& context, int64_t length) {
  return Reservation::Take(context.budget(), kernels::FourierTransform::MemoryBytes(length));
}

Result<int> SignalAxis(int64_t wanted, int rank) {
  KHEYA_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(wanted, rank));
  if (axis != rank - 1) return axis;
  return InvalidArgumentError("found axis {}, expected another than the last", wanted);
}

// The length of x's half spectrum is size / 2 + 1.
Status InferDft(InferContext& context) {
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  const bool onesided = context.attributes().Int("onesided", 0) != 0;
  const bool inverse = context.attributes().Int("inverse", 0) != 0;
  if (shape && shape->size() < 2) {
    return InvalidArgumentError("found input {}, expected [...,1] or [...,2]", ToString(*shape));
  }
  std::optional<int64_t> wanted = -2;
  if (context.has_input(2)) {
    const auto known = KnownElements(context, 2);
    wanted = known && known->size() == 1 ? std::optional((*known)[0]) : std::nullopt;
  }
  if (shape && !wanted) shape = UnknownDims(static_cast<int>(shape->size()));
  if (shape && wanted) {
    KHEYA_ASSIGN_OR_RETURN(const int axis, SignalAxis(*wanted, static_cast<int>(shape->size())));
    Dim length = inverse && onesided ? ((*shape)[axis] - 1) * 2 : (*shape)[axis];
    if (context.has_input(1)) {
      const auto elements = context.input_elements(1);
      length = elements && elements->size() == 1 ? elements->front() : Dim();
    }
    (*shape)[axis] = onesided && !inverse ? length.FloorDiv(2) + 1 : length;
  }
  if (shape) shape->back() = onesided && inverse ? 1 : 2;
  return context.SetOutput(0, context.input_dtype(0), std::move(shape));
}

Result<kernels::DftParams> DftParamsOf(const EvalContext& context, int axis) {
  const Shape& x = context.input(0).shape();
  const bool onesided = context.attributes().Int("onesided", 0) != 0;
  kernels::DftParams params;
  params.inverse = context.attributes().Int("inverse", 0) != 0;
  params.half_input = params.inverse && onesided;
  params.outer = x.Product(0, axis);
  params.inner = x.Product(axis + 1, x.rank() - 1);
  params.in_places = x[axis];
  params.in_parts = x[x.rank() - 1];
  params.size = params.half_input ? 2 * (x[axis] - 1) : x[axis];
  if (context.has_input(1)) {
    KHEYA_ASSIGN_OR_RETURN(params.size, IntScalarInput(context, 1));
  }
  KHEYA_RETURN_IF_ERROR(CheckLength(params.size));
  params.check_alive = [&context] { return context.CheckAlive(); };
  if (onesided && !params.inverse && params.in_parts != 1) {
    return InvalidArgumentError("found complex numbers, expected real ones for onesided");
  }
  params.out_places = onesided && !params.inverse ? params.size / 2 + 1 : params.size;
  params.out_parts = params.half_input ? 1 : 2;
  return params;
}

Status EvaluateDft(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, WideInput(context, 0));
  const Shape& in = x.shape();
  if (in.rank() < 2 || in[in.rank() - 1] < 1 || in[in.rank() - 1] > 2) {
    return InvalidArgumentError("found input {}, expected [...,1] or [...,2]", in.ToString());
  }
  int64_t wanted = -2;
  if (context.has_input(2)) {
    KHEYA_ASSIGN_OR_RETURN(wanted, IntScalarInput(context, 2));
  }
  KHEYA_ASSIGN_OR_RETURN(const int axis, SignalAxis(wanted, in.rank()));
  KHEYA_ASSIGN_OR_RETURN(const kernels::DftParams params, DftParamsOf(context, axis));
  std::vector<int64_t> dims(in.begin(), in.end());
  dims[axis] = params.out_places;
  dims.back() = params.out_parts;
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  KHEYA_ASSIGN_OR_RETURN(const Reservation scratch, TransformMemory(context, params.size));
  KHEYA_RETURN_IF_ERROR(kernels::Dft(params, x.view(), y.view()));
  return y.Finish();
}

Dim ScalarElement(const InferContext& context, int index) {
  const auto elements = context.input_elements(index);
  return elements && elements->size() == 1 ? elements->front() : Dim();
}

Status InferStft(InferContext& context) {
  const SymbolicShape* signal = context.input_shape(0);
  const SymbolicShape* window = context.input_shape(2);
  Dim length = signal != nullptr && signal->size() == 3 ? (*signal)[1] : Dim();
  Dim frame = length;
  if (context.has_input(2)) {
    frame = window != nullptr && window->size() == 1 ? (*window)[0] : Dim();
  }
  if (context.has_input(3)) frame = ScalarElement(context, 3);
  const Dim step = ScalarElement(context, 1);
  Dim frames;
  if (step.known() && step.value() > 0) frames = (length - frame).FloorDiv(step) + 1;
  const bool onesided = context.attributes().Int("onesided", 1) != 0;
  const Dim bins = onesided ? frame.FloorDiv(2) + 1 : frame;
  const Dim batch = signal != nullptr && !signal->empty() ? (*signal)[0] : Dim();
  return context.SetOutput(0, context.input_dtype(0), SymbolicShape{batch, frames, bins, 2});
}

Result<kernels::StftParams> StftParamsOf(const EvalContext& context) {
  const Shape& x = context.input(0).shape();
  if (x.rank() != 3 || x[2] < 1 || x[2] > 2) {
    return InvalidArgumentError("found signal {}, expected [batch,length,1 or 2]", x.ToString());
  }
  kernels::StftParams params;
  params.batch = x[0];
  params.length = x[1];
  params.parts = x[2];
  KHEYA_ASSIGN_OR_RETURN(params.step, IntScalarInput(context, 1));
  params.frame_length = context.has_input(2) ? context.input(2).num_elements() : x[1];
  if (context.has_input(3)) {
    KHEYA_ASSIGN_OR_RETURN(params.frame_length, IntScalarInput(context, 3));
  }
  KHEYA_RETURN_IF_ERROR(CheckLength(params.frame_length));
  if (context.has_input(2) && context.input(2).shape() != Shape{params.frame_length}) {
    return InvalidArgumentError("found window {}, expected [{}]",
                                context.input(2).shape().ToString(), params.frame_length);
  }
  if (params.step < 1 || params.frame_length > params.length) {
    return InvalidArgumentError("found frames of {} places every {} in a signal of {}",
                                params.frame_length, params.step, params.length);
  }
  params.frames = (params.length - params.frame_length) / params.step + 1;
  const bool onesided = context.attributes().Int("onesided", 1) != 0;
  if (onesided && params.parts == 2) {
    return InvalidArgumentError("found complex numbers, expected real ones for onesided");
  }
  params.bins = onesided ? params.frame_length / 2 + 1 : params.frame_length;
  params.check_alive = [&context] { return context.CheckAlive(); };
  return params;
}

Status EvaluateStft(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const Tensor x, WideInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(const kernels::StftParams params, StftParamsOf(context));
  std::vector<double> window;
  if (context.has_input(2)) {
    KHEYA_ASSIGN_OR_RETURN(window, kernels::NumbersOf(context.input(2).view()));
  }
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(std::vector<int64_t>{
                                                params.batch, params.frames, params.bins, 2}));
  KHEYA_ASSIGN_OR_RETURN(WideOutput y,
                         WideOutput::Create(context, 0, context.input(0).dtype(), shape));
  KHEYA_ASSIGN_OR_RETURN(const Reservation scratch, TransformMemory(context, params.frame_length));
  KHEYA_RETURN_IF_ERROR(kernels::Stft(params, x.view(), window, y.view()));
  return y.Finish();
}

Result<DType> OutputType(const AttributeReader& attributes) {
  const int64_t number = attributes.Int("output_datatype", 1);
  const std::optional<DType> dtype = DTypeFromOnnx(number);
  if (dtype && (types::kNumeric & MaskOf({*dtype})) != 0) return *dtype;
  return InvalidArgumentError("found element type number {} in 'output_datatype'", number);
}

Status GiveNumbers(EvalContext& context, const Shape& shape, const std::vector<double>& numbers) {
  KHEYA_ASSIGN_OR_RETURN(const DType dtype, OutputType(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out, context.Output(0, dtype, shape));
  return kernels::Cast({DType::kFloat64, shape, numbers.data()}, out);
}

Result<Reservation> DoublesMemory(const EvalContext& context, int64_t count) {
  return Reservation::Take(context.budget(), static_cast<uint64_t>(count) * sizeof(double));
}

Status InferWindow(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const DType dtype, OutputType(context.attributes()));
  return context.SetOutput(0, dtype, SymbolicShape{ScalarElement(context, 0)});
}

template <kernels::WindowKind kind>
Status EvaluateWindow(EvalContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const int64_t size, IntScalarInput(context, 0));
  if (size < 0 || size > kMaxLength) {
    return InvalidArgumentError("found a window of {} places, expected 0 to {}", size, kMaxLength);
  }
  const bool periodic = context.attributes().Int("periodic", 1) != 0;
  KHEYA_ASSIGN_OR_RETURN(const Reservation scratch, DoublesMemory(context, size));
  return GiveNumbers(context, Shape{size}, kernels::MakeWindow(kind, size, periodic));
}

Status InferMel(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const DType dtype, OutputType(context.attributes()));
  return context.SetOutput(
      0, dtype,
      SymbolicShape{ScalarElement(context, 1).FloorDiv(2) + 1, ScalarElement(context, 0)});
}

Result<double> HertzInput(const EvalContext& context, int index) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> numbers,
                         kernels::NumbersOf(context.input(index).view()));
  if (numbers.size() == 1) return numbers[0];
  return InvalidArgumentError("found input {} of {}, expected one number", index,
                              context.input(index).TypeString());
}

Status EvaluateMel(EvalContext& context) {
  kernels::MelParams params;
  KHEYA_ASSIGN_OR_RETURN(params.mel_bins, IntScalarInput(context, 0));
  KHEYA_ASSIGN_OR_RETURN(params.dft_length, IntScalarInput(context, 1));
  KHEYA_ASSIGN_OR_RETURN(params.sample_rate, IntScalarInput(context, 2));
  KHEYA_ASSIGN_OR_RETURN(params.lower_hertz, HertzInput(context, 3));
  KHEYA_ASSIGN_OR_RETURN(params.upper_hertz, HertzInput(context, 4));
  KHEYA_RETURN_IF_ERROR(CheckLength(params.dft_length));
  constexpr int64_t kMaxBins = 1 << 16;
  if (params.mel_bins < 1 || params.mel_bins > kMaxBins || params.sample_rate < 1) {
    return InvalidArgumentError("found {} mel bins and a sample rate of {}", params.mel_bins,
                                params.sample_rate);
  }
  KHEYA_ASSIGN_OR_RETURN(const Shape shape,
                         Shape::Create(std::vector{params.dft_length / 2 + 1, params.mel_bins}));
  if (shape.num_elements() > kMaxLength) {
    return ResourceExhaustedError("found a matrix {}, expected at most {} elements",
                                  shape.ToString(), kMaxLength);
  }
  KHEYA_ASSIGN_OR_RETURN(const Reservation scratch, DoublesMemory(context, shape.num_elements()));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> weights, kernels::MelWeights(params));
  return GiveNumbers(context, shape, weights);
}

constexpr OpDef Op(const char* name, std::span<const ParamDef> inputs,
                   std::span<const ParamDef> outputs, std::span<const AttributeDef> attributes,
                   Status (*infer)(InferContext&), Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "signal",
          .inputs = inputs,
          .outputs = outputs,
          .attributes = attributes,
          .infer = infer,
          .evaluate = evaluate};
}

using kernels::WindowKind;

}  // namespace

extern const OpDef kBlackmanWindowOp;
const OpDef kBlackmanWindowOp = Op("BlackmanWindow", kSize, kNumbers, kWindowAttributes,
                                   InferWindow, EvaluateWindow<WindowKind::kBlackman>);
extern const OpDef kDFTOp;
const OpDef kDFTOp = Op("DFT", kDftInputs, kOutput, kDftAttributes, InferDft, EvaluateDft);
extern const OpDef kHammingWindowOp;
const OpDef kHammingWindowOp = Op("HammingWindow", kSize, kNumbers, kWindowAttributes, InferWindow,
                                  EvaluateWindow<WindowKind::kHamming>);
extern const OpDef kHannWindowOp;
const OpDef kHannWindowOp = Op("HannWindow", kSize, kNumbers, kWindowAttributes, InferWindow,
                               EvaluateWindow<WindowKind::kHann>);
extern const OpDef kMelWeightMatrixOp;
const OpDef kMelWeightMatrixOp =
    Op("MelWeightMatrix", kMelInputs, kNumbers, kMelAttributes, InferMel, EvaluateMel);
extern const OpDef kSTFTOp;
const OpDef kSTFTOp = Op("STFT", kStftInputs, kOutput, kStftAttributes, InferStft, EvaluateStft);

}  // namespace kheya
