// RNN, GRU and LSTM. What comes from the inputs is one matrix product for all steps; a step reads
// the recurrent weights once, and the activations follow in the same pass.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "kernels/portable/panels.h"
#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"
#include "kernels/portable/simd_recurrent.h"

namespace kheya {
namespace {

using kernels::Cell;
using kernels::RecurrentFunction;
using kernels::RecurrentParams;

enum Input { kX, kW, kR, kBias, kLengths, kH, kC, kPeepholes };

int64_t GatesOf(Cell cell) { return cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1; }

int64_t RoundUp(int64_t count, int64_t step) { return (count + step - 1) / step * step; }

// Sizes with what vectors fill up.
struct Sizes {
  explicit Sizes(const RecurrentParams& params)
      : lanes(static_cast<int64_t>(simd::RecurrentLanes())),
        gates(GatesOf(params.cell)),
        hidden(params.hidden),
        input(params.input),
        units(RoundUp(hidden, lanes)),
        columns(RoundUp(units * gates, static_cast<int64_t>(simd::PanelColumns()))) {}

  const int64_t lanes;
  const int64_t gates;
  const int64_t hidden;
  const int64_t input;
  const int64_t units;    // of a state
  const int64_t columns;  // of the product with the inputs: blocks of lanes for each gate

  // The row of the operator's weights that a column of the product is; nullopt: filled up.
  std::optional<int64_t> RowOf(int64_t column) const {
    const int64_t unit = column / (gates * lanes) * lanes + column % lanes;
    const int64_t gate = column / lanes % gates;
    if (unit >= hidden) return std::nullopt;
    return gate * hidden + unit;
  }
};

// The weights of one direction.
struct Weights {
  std::shared_ptr<const Buffer> input;      // as panels of simd::PanelGemm
  std::shared_ptr<const Buffer> recurrent;  // as panels of simd_recurrent.h
  std::vector<float> bias;                  // [columns], added to the product with the inputs
  std::vector<float> candidate_bias;        // GRU: [units]
  std::vector<float> peepholes;             // [3 units] or empty
};

const float* Floats(const std::shared_ptr<const Buffer>& buffer) {
  return reinterpret_cast<const float*>(buffer->data());
}

Result<Buffer> PackInput(const Sizes& sizes, const float* w,
                         const std::shared_ptr<MemoryBudget>& budget) {
  const auto width = static_cast<int64_t>(simd::PanelColumns());
  KHEYA_ASSIGN_OR_RETURN(Buffer buffer,
                         Buffer::AllocateZeroed(sizes.columns * sizes.input * 4, budget));
  auto* to = reinterpret_cast<float*>(buffer.data());
  for (int64_t column = 0; column < sizes.columns; ++column) {
    const std::optional<int64_t> row = sizes.RowOf(column);
    if (!row) continue;
    float* own = to + column / width * width * sizes.input + column % width;
    for (int64_t k = 0; k < sizes.input; ++k) own[k * width] = w[*row * sizes.input + k];
  }
  return buffer;
}

// Gates [first, first + count) of all blocks.
void PackGates(const Sizes& sizes, const float* r, int64_t first, int64_t count, float* to) {
  for (int64_t unit = 0; unit < sizes.hidden; ++unit) {
    const int64_t block = unit / sizes.lanes;
    for (int64_t gate = 0; gate < count; ++gate) {
      const float* from = r + ((first + gate) * sizes.hidden + unit) * sizes.hidden;
      float* own = to + (block * sizes.hidden * count + gate) * sizes.lanes + unit % sizes.lanes;
      for (int64_t k = 0; k < sizes.hidden; ++k) own[k * count * sizes.lanes] = from[k];
    }
  }
}

Result<Buffer> PackRecurrent(const Sizes& sizes, bool candidate_apart, const float* r,
                             const std::shared_ptr<MemoryBudget>& budget) {
  const int64_t count = sizes.units * sizes.gates * sizes.hidden;
  KHEYA_ASSIGN_OR_RETURN(Buffer buffer, Buffer::AllocateZeroed(count * 4, budget));
  auto* to = reinterpret_cast<float*>(buffer.data());
  if (candidate_apart) {
    PackGates(sizes, r, 0, 2, to);
    PackGates(sizes, r, 2, 1, to + sizes.units * sizes.hidden * 2);
  } else {
    PackGates(sizes, r, 0, sizes.gates, to);
  }
  return buffer;
}

// Which batch rows and steps a slice is at, and its memory.
struct Part {
  int64_t direction = 0;
  SliceRange rows;
  float* product = nullptr;  // with the inputs: [steps at once, rows, columns] or rows first
  float* states = nullptr;   // twice [rows, units]: of even and of odd steps
  float* cells = nullptr;    // [rows, units]
  float* resets = nullptr;   // [rows, units]
  simd::RecurrentRow* list = nullptr;

  int64_t count() const { return rows.end - rows.begin; }
};

class RecurrentKernel : public PreparedKernel {
 public:
  explicit RecurrentKernel(const KernelCall& call)
      : params_(std::get<RecurrentParams>(call.params)),
        sizes_(params_),
        candidate_apart_(params_.cell == Cell::kGru && !params_.linear_before_reset),
        directions_(static_cast<int64_t>(params_.directions.size())) {
    const double flops = 2.0 * static_cast<double>(params_.length * params_.batch) *
                         static_cast<double>(sizes_.columns) *
                         static_cast<double>(sizes_.input + sizes_.hidden);
    constexpr int64_t kRowsAtOnce = 4;
    parts_ = SlicesFor(flops, 2 * kLeastFlops, params_.batch / kRowsAtOnce, 8);
    most_rows_ = (params_.batch + parts_ - 1) / parts_;
    constexpr int64_t kMostFloats = int64_t{1} << 17;
    steps_at_once_ = std::clamp<int64_t>(kMostFloats / (most_rows_ * sizes_.columns), 1,
                                         std::max<int64_t>(params_.length, 1));
  }

  Status Prepare(const PrepareContext& context) {
    for (int64_t d = 0; d < directions_; ++d) {
      KHEYA_RETURN_IF_ERROR(PrepareDirection(context, d));
    }
    return OkStatus();
  }

  int64_t slices() const override { return parts_ * directions_; }
  size_t workspace_bytes() const override { return slices() * SliceBytes(); }
  bool ReadsConstant(int input) const override {
    return input != kW && input != kR && input != kBias && input != kPeepholes;
  }

  Status Run(const KernelArgs& args) const override {
    KHEYA_RETURN_IF_ERROR(CheckLengths(args));
    const Part part = PartOf(args);
    LoadStates(args, part);
    for (int64_t step = 0; step < params_.length; step += steps_at_once_) {
      const int64_t end = std::min(step + steps_at_once_, params_.length);
      MultiplyInputs(args, part, step, end);
      for (int64_t s = step; s < end; ++s) RunStep(args, part, s, step);
    }
    SaveStates(args, part);
    return OkStatus();
  }

 private:
  // The weights of a direction begin at `offset` of the tensor.
  static Result<std::shared_ptr<const Buffer>> Packed(
      const PrepareContext& context, Input input, const std::string& layout, int64_t offset,
      int64_t bytes, const std::function<Result<Buffer>(const float*)>& pack) {
    const Tensor* weights = context.constant(input);
    if (weights == nullptr || context.cache == nullptr) {
      return UnimplementedError("weights are not constant");
    }
    return context.cache->Get(*weights, layout, bytes,
                              [&] { return pack(weights->data<float>().data() + offset); });
  }

  Status PrepareDirection(const PrepareContext& context, int64_t d) {
    Weights weights;
    const auto budget = context.cache != nullptr ? context.cache->budget() : nullptr;
    const int64_t rows = sizes_.gates * sizes_.hidden;
    const std::string name =
        fmt::format("recurrent{}:{}:{}x{}:{}", candidate_apart_ ? "_apart" : "", d, sizes_.gates,
                    sizes_.hidden, sizes_.lanes);
    KHEYA_ASSIGN_OR_RETURN(
        weights.input,
        Packed(context, kW, name + ":w", d * rows * sizes_.input, sizes_.columns * sizes_.input * 4,
               [&](const float* w) { return PackInput(sizes_, w, budget); }));
    KHEYA_ASSIGN_OR_RETURN(
        weights.recurrent,
        Packed(context, kR, name + ":r", d * rows * sizes_.hidden,
               sizes_.units * sizes_.gates * sizes_.hidden * 4,
               [&](const float* r) { return PackRecurrent(sizes_, candidate_apart_, r, budget); }));
    PrepareBias(context.constant(kBias), d, &weights);
    if (const Tensor* peepholes = context.constant(kPeepholes)) {
      weights.peepholes.assign(3 * sizes_.units, 0);
      const float* from = peepholes->data<float>().data() + d * 3 * sizes_.hidden;
      for (int64_t gate = 0; gate < 3; ++gate) {
        std::copy_n(from + gate * sizes_.hidden, sizes_.hidden,
                    weights.peepholes.begin() + gate * sizes_.units);
      }
    }
    weights_.push_back(std::move(weights));
    return OkStatus();
  }

  // Both biases are added at once, save those of GRU's candidate.
  void PrepareBias(const Tensor* bias, int64_t d, Weights* weights) const {
    weights->bias.assign(sizes_.columns, 0);
    if (params_.cell == Cell::kGru) weights->candidate_bias.assign(sizes_.units, 0);
    if (bias == nullptr) return;
    const int64_t rows = sizes_.gates * sizes_.hidden;
    const float* from = bias->data<float>().data() + d * 2 * rows;
    for (int64_t column = 0; column < sizes_.columns; ++column) {
      const std::optional<int64_t> row = sizes_.RowOf(column);
      if (!row) continue;
      const bool candidate = params_.cell == Cell::kGru && *row >= 2 * sizes_.hidden;
      weights->bias[column] = from[*row] + (candidate ? 0 : from[rows + *row]);
      if (candidate) {
        const int64_t unit = *row - 2 * sizes_.hidden;
        weights->candidate_bias[unit] = from[rows + *row];
      }
    }
  }

  size_t SliceBytes() const {
    const int64_t floats = most_rows_ * (steps_at_once_ * sizes_.columns + 4 * sizes_.units);
    const size_t bytes = floats * sizeof(float) + most_rows_ * sizeof(simd::RecurrentRow);
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  Part PartOf(const KernelArgs& args) const {
    Part part;
    part.direction = args.slice / parts_;
    part.rows = RangeOf(args.slice % parts_, parts_, params_.batch);
    std::byte* own = args.workspace + args.slice * SliceBytes();
    part.list = reinterpret_cast<simd::RecurrentRow*>(
        own + most_rows_ * sizeof(float) * (steps_at_once_ * sizes_.columns + 4 * sizes_.units));
    part.product = reinterpret_cast<float*>(own);
    part.states = part.product + most_rows_ * steps_at_once_ * sizes_.columns;
    part.cells = part.states + 2 * most_rows_ * sizes_.units;
    part.resets = part.cells + most_rows_ * sizes_.units;
    return part;
  }

  static const int32_t* Lengths(const KernelArgs& args) {
    return reinterpret_cast<const int32_t*>(args.inputs[kLengths]);
  }
  int64_t LengthOf(const KernelArgs& args, int64_t row) const {
    const int32_t* lengths = Lengths(args);
    return lengths == nullptr ? params_.length : lengths[row];
  }

  Status CheckLengths(const KernelArgs& args) const {
    for (int64_t row = 0; row < params_.batch && Lengths(args) != nullptr; ++row) {
      const int64_t length = LengthOf(args, row);
      if (length >= 0 && length <= params_.length) continue;
      return InvalidArgumentError("found a sequence length of {}, expected 0 to {}", length,
                                  params_.length);
    }
    return OkStatus();
  }

  // Of the operator's states, for a row of the batch.
  int64_t StateOffset(const Part& part, int64_t row) const {
    const int64_t d = part.direction;
    return (params_.batch_first ? row * directions_ + d : d * params_.batch + row) * sizes_.hidden;
  }
  float* State(const Part& part, int64_t step, int64_t index) const {
    return part.states + (step % 2 * most_rows_ + index) * sizes_.units;
  }

  void LoadStates(const KernelArgs& args, const Part& part) const {
    std::fill_n(part.states, most_rows_ * 4 * sizes_.units, 0.0f);
    const auto load = [&](size_t input, int64_t row, float* to) {
      if (input >= args.inputs.size() || args.inputs[input] == nullptr) return;
      std::copy_n(InputF32(args, input) + StateOffset(part, row), sizes_.hidden, to);
    };
    for (int64_t i = 0; i < part.count(); ++i) {
      load(kH, part.rows.begin + i, State(part, 0, i));
      if (params_.cell == Cell::kLstm) {
        load(kC, part.rows.begin + i, part.cells + i * sizes_.units);
      }
    }
  }

  void SaveStates(const KernelArgs& args, const Part& part) const {
    const auto save = [&](size_t output, int64_t row, const float* from) {
      if (output >= args.outputs.size() || args.outputs[output] == nullptr) return;
      std::copy_n(from, sizes_.hidden, OutputF32(args, output) + StateOffset(part, row));
    };
    for (int64_t i = 0; i < part.count(); ++i) {
      const int64_t row = part.rows.begin + i;
      save(1, row, State(part, LengthOf(args, row), i));
      save(2, row, part.cells + i * sizes_.units);
    }
  }

  bool reverse(const Part& part) const { return params_.directions[part.direction].reverse; }

  // All rows of one time lie side by side in x, and are multiplied together.
  bool RowsTogether(const KernelArgs& args, const Part& part) const {
    return !params_.batch_first && Lengths(args) == nullptr && part.count() == params_.batch;
  }

  // The times of steps [first, end) of a row; empty where it is at its end.
  SliceRange TimesOf(const Part& part, int64_t length, int64_t first, int64_t end) const {
    end = std::min(end, length);
    if (first >= end) return {};
    return reverse(part) ? SliceRange{length - end, length - first} : SliceRange{first, end};
  }

  void MultiplyInputs(const KernelArgs& args, const Part& part, int64_t first, int64_t end) const {
    const float* x = InputF32(args, kX);
    const int64_t inputs = sizes_.input;
    if (RowsTogether(args, part)) {
      const SliceRange times = TimesOf(part, params_.length, first, end);
      return Multiply(part, x + times.begin * params_.batch * inputs, inputs,
                      (times.end - times.begin) * params_.batch, part.product);
    }
    const int64_t row_pitch = params_.batch_first ? params_.length * inputs : inputs;
    const int64_t time_pitch = params_.batch_first ? inputs : params_.batch * inputs;
    for (int64_t i = 0; i < part.count(); ++i) {
      const int64_t row = part.rows.begin + i;
      const SliceRange times = TimesOf(part, LengthOf(args, row), first, end);
      if (times.begin == times.end) continue;
      Multiply(part, x + row * row_pitch + times.begin * time_pitch, time_pitch,
               times.end - times.begin, part.product + i * steps_at_once_ * sizes_.columns);
    }
  }

  void Multiply(const Part& part, const float* x, int64_t pitch, int64_t rows, float* y) const {
    const Weights& weights = weights_[part.direction];
    simd::PanelGemm(rows, sizes_.columns, sizes_.input, x, pitch, Floats(weights.input), y,
                    sizes_.columns);
    for (int64_t row = 0; row < rows; ++row) {
      simd::Accumulate(weights.bias.data(), y + row * sizes_.columns, sizes_.columns);
    }
  }

  // Step `step`, whose products were made from step `first` on.
  void RunStep(const KernelArgs& args, const Part& part, int64_t step, int64_t first) const {
    const bool together = RowsTogether(args, part);
    const int64_t time_pitch = together ? params_.batch : 1;
    const int64_t row_pitch = together ? 1 : steps_at_once_;
    const int64_t end = std::min(first + steps_at_once_, params_.length);
    size_t count = 0;
    for (int64_t i = 0; i < part.count(); ++i) {
      const int64_t row = part.rows.begin + i;
      const int64_t length = LengthOf(args, row);
      if (step >= length) {
        Store(args, part, step, row, nullptr);
        continue;
      }
      const int64_t time = reverse(part) ? length - 1 - step : step;
      const int64_t place = time - TimesOf(part, length, first, end).begin;
      part.list[count++] = {part.product + (place * time_pitch + i * row_pitch) * sizes_.columns,
                            State(part, step, i), part.cells + i * sizes_.units,
                            State(part, step + 1, i), part.resets + i * sizes_.units};
    }
    StepCells(part, step, count);
    for (int64_t i = 0; i < part.count(); ++i) {
      const int64_t row = part.rows.begin + i;
      const int64_t length = LengthOf(args, row);
      if (step >= length) continue;
      Store(args, part, reverse(part) ? length - 1 - step : step, row, State(part, step + 1, i));
    }
  }

  void StepCells(const Part& part, int64_t step, size_t count) const {
    const Weights& weights = weights_[part.direction];
    simd::RecurrentStep cells;
    cells.hidden = sizes_.hidden;
    cells.pitch = sizes_.units;
    cells.panels = Floats(weights.recurrent);
    cells.bias = weights.candidate_bias.data();
    cells.peepholes = weights.peepholes.empty() ? nullptr : weights.peepholes.data();
    cells.clip = static_cast<float>(params_.clip);
    cells.input_forget = params_.input_forget;
    cells.relu =
        params_.cell == Cell::kRnn &&
        params_.directions[part.direction].activations[0].function == RecurrentFunction::kRelu;
    cells.backward = step % 2 != 0;  // the weights read last may still be near
    switch (params_.cell) {
      case Cell::kRnn:
        return simd::RnnStep(cells, part.list, count);
      case Cell::kGru:
        return candidate_apart_ ? simd::GruStep(cells, part.list, count)
                                : simd::GruLinearStep(cells, part.list, count);
      case Cell::kLstm:
        return simd::LstmStep(cells, part.list, count);
    }
  }

  // The state of a row becomes the result at `time`; null: zeros.
  void Store(const KernelArgs& args, const Part& part, int64_t time, int64_t row,
             const float* state) const {
    if (args.outputs[0] == nullptr) return;
    const int64_t d = part.direction;
    const int64_t at = params_.batch_first ? (row * params_.length + time) * directions_ + d
                                           : (time * directions_ + d) * params_.batch + row;
    float* to = OutputF32(args, 0) + at * sizes_.hidden;
    if (state == nullptr) {
      std::fill_n(to, sizes_.hidden, 0.0f);
    } else {
      std::copy_n(state, sizes_.hidden, to);
    }
  }

  const RecurrentParams params_;
  const Sizes sizes_;
  const bool candidate_apart_;
  const int64_t directions_;
  int64_t parts_ = 1;  // of the batch
  int64_t most_rows_ = 1;
  int64_t steps_at_once_ = 1;
  std::vector<Weights> weights_;  // by direction
};

bool ActivationsAreUsual(const RecurrentParams& params) {
  return std::ranges::all_of(params.directions, [&](const kernels::RecurrentDirection& each) {
    const auto is = [&](size_t i, RecurrentFunction f) {
      return each.activations[i].function == f;
    };
    switch (params.cell) {
      case Cell::kRnn:
        return is(0, RecurrentFunction::kTanh) || is(0, RecurrentFunction::kRelu);
      case Cell::kGru:
        return is(0, RecurrentFunction::kSigmoid) && is(1, RecurrentFunction::kTanh);
      case Cell::kLstm:
        return is(0, RecurrentFunction::kSigmoid) && is(1, RecurrentFunction::kTanh) &&
               is(2, RecurrentFunction::kTanh);
    }
    return false;
  });
}

}  // namespace

bool PortableRecurrentSupports(const KernelCall& call) {
  const auto* params = std::get_if<RecurrentParams>(&call.params);
  if (params == nullptr || params->quantize_states || !ActivationsAreUsual(*params)) return false;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const DType expected = i == kLengths ? DType::kInt32 : DType::kFloat32;
    if (call.has_input(i) && call.inputs[i].dtype != expected) return false;
  }
  return params->length > 0 && params->batch > 0 && params->input > 0 && params->hidden > 0;
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableRecurrent(
    const KernelCall& call, const PrepareContext& context) {
  for (const Input input : {kBias, kPeepholes}) {
    if (call.has_input(input) && context.constant(input) == nullptr) {
      return UnimplementedError("weights are not constant");
    }
  }
  auto kernel = std::make_shared<RecurrentKernel>(call);
  KHEYA_RETURN_IF_ERROR(kernel->Prepare(context));
  return std::shared_ptr<const PreparedKernel>(std::move(kernel));
}

}  // namespace kheya
