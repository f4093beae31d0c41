// One step of recurrent cells, for the best instruction set of this processor (by Highway).
#ifndef KHEYA_KERNELS_PORTABLE_SIMD_RECURRENT_H_
#define KHEYA_KERNELS_PORTABLE_SIMD_RECURRENT_H_

#include <cstddef>

namespace kheya::simd {

// Units are cut into blocks of this many, the last one filled up with units of weight 0.
size_t RecurrentLanes();

// What all rows share. `pitch` is the number of units with those that fill up. The weights of a
// block are `hidden` times (for each unit of the state) a vector for each gate, in the order of the
// operators (LSTM i o f c; GRU z r h).
struct RecurrentStep {
  size_t hidden = 0;
  size_t pitch = 0;
  const float* panels = nullptr;
  const float* bias = nullptr;       // GRU: of the candidate's product [pitch]
  const float* peepholes = nullptr;  // LSTM: i o f, each [pitch]; null: none
  float clip = 0;                    // bound of what enters an activation; 0: none
  bool input_forget = false;         // LSTM: the forget gate is 1 - the input gate
  bool relu = false;                 // RNN: Relu in place of Tanh
  bool backward = false;             // begins with the last block
};

// One sequence: what comes from the input (a block after the other, the gates of a block as
// vectors), its state, its cell (LSTM alone, changed), where its next state goes, room for one
// state (GRU alone). All but x are [pitch].
struct RecurrentRow {
  const float* x = nullptr;
  const float* h = nullptr;
  float* c = nullptr;
  float* next = nullptr;
  float* reset = nullptr;
};

void LstmStep(const RecurrentStep& step, const RecurrentRow* rows, size_t count);
// With the reset gate after the product (linear_before_reset).
void GruLinearStep(const RecurrentStep& step, const RecurrentRow* rows, size_t count);
// With the reset gate before it: the panels of the gates z and r, then those of the candidate.
void GruStep(const RecurrentStep& step, const RecurrentRow* rows, size_t count);
void RnnStep(const RecurrentStep& step, const RecurrentRow* rows, size_t count);

}  // namespace kheya::simd

#endif  // KHEYA_KERNELS_PORTABLE_SIMD_RECURRENT_H_
