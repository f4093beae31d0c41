// Recurrent networks: RNN, GRU and LSTM as ONNX defines them.
#ifndef KHEYA_KERNELS_REFERENCE_RECURRENT_H_
#define KHEYA_KERNELS_REFERENCE_RECURRENT_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

enum class Cell : uint8_t { kRnn, kGru, kLstm };

enum class RecurrentFunction : uint8_t {
  kAffine,       // alpha x + beta
  kElu,          // x, or alpha (exp(x) - 1) below 0
  kHardSigmoid,  // alpha x + beta in [0, 1]
  kLeakyRelu,    // x, or alpha x below 0
  kRelu,
  kScaledTanh,  // alpha tanh(beta x)
  kSigmoid,
  kSoftplus,
  kSoftsign,
  kTanh,
  kThresholdedRelu,  // x above alpha, else 0
};

struct RecurrentActivation {
  RecurrentFunction function = RecurrentFunction::kTanh;
  double alpha = 0;
  double beta = 0;
};

struct RecurrentDirection {
  bool reverse = false;
  // RNN: f. GRU: f of the gates, g of the candidate. LSTM: f of the gates, g of the candidate, h of
  // the cell.
  std::array<RecurrentActivation, 3> activations = {};
};

struct RecurrentParams {
  Cell cell = Cell::kRnn;
  int64_t length = 0;
  int64_t batch = 0;
  int64_t input = 0;
  int64_t hidden = 0;
  bool batch_first = false;  // of x, states and results
  double clip = 0;           // bound of what enters an activation; 0: none
  bool linear_before_reset = false;
  bool input_forget = false;  // the forget gate is 1 - the input gate
  // A state is rounded to the 256 numbers of DynamicQuantizeLinear before it meets r.
  bool quantize_states = false;
  std::vector<RecurrentDirection> directions = {};
};

// With D directions, G gates (1; GRU z, r, h; LSTM i, o, f, c) and H = hidden: w [D, G H, input],
// r [D, G H, H], bias [D, 2 G H], peepholes [D, 3 H] (i, o, f), h and c [D, batch, H]. The data of
// all but x, w and r may be null: zeros. `lengths` is empty or has the length of each sequence; a
// reverse direction begins at its end, and what is behind it gives 0.
struct RecurrentInputs {
  TensorView x;
  TensorView w;
  TensorView r;
  TensorView bias;
  TensorView peepholes;
  TensorView h;
  TensorView c;
  std::span<const int64_t> lengths = {};
};

// y [length, D, batch, H], last_h and last_c [D, batch, H], or with the batch first. Their data may
// be null. All of one type, float32 or float64; states and sums are kept in double.
struct RecurrentOutputs {
  MutableTensorView y;
  MutableTensorView last_h;
  MutableTensorView last_c;
};

Status Recurrent(const RecurrentParams& params, const RecurrentInputs& inputs,
                 const RecurrentOutputs& outputs);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_RECURRENT_H_
