// Broadcast: how two operands of an elementwise function lie beside its output.
#ifndef KHEYA_KERNELS_PORTABLE_BROADCAST_H_
#define KHEYA_KERNELS_PORTABLE_BROADCAST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/call.h"

namespace kheya {

// Two operands that broadcast to an output, with neighboring dimensions that lie alike merged.
class Broadcast {
 public:
  // False when the operands do not broadcast to the output.
  bool Init(const KernelCall& call) {
    const std::vector<int64_t> out = MemoryDims(call.outputs[0]);
    std::array<std::vector<int64_t>, 2> strides;
    for (int i = 0; i < 2; ++i) {
      if (!StridesFor(MemoryDims(call.inputs[i]), out, &strides[i])) return false;
    }
    for (size_t axis = 0; axis < out.size(); ++axis) {
      if (out[axis] != 1) Append(out[axis], strides[0][axis], strides[1][axis]);
    }
    if (dims_.empty()) Append(1, 0, 0);
    return true;
  }

  int64_t inner() const { return dims_.back().size; }
  size_t step(int operand) const { return dims_.back().strides[operand] != 0 ? 1 : 0; }
  int64_t outer() const {
    int64_t count = 1;
    for (size_t i = 0; i + 1 < dims_.size(); ++i) count *= dims_[i].size;
    return count;
  }
  // Where row `row` of the outer dimensions begins in an operand.
  int64_t Offset(int64_t row, int operand) const {
    int64_t offset = 0;
    for (size_t i = dims_.size() - 1; i-- > 0;) {
      offset += row % dims_[i].size * dims_[i].strides[operand];
      row /= dims_[i].size;
    }
    return offset;
  }

 private:
  struct Axis {
    int64_t size;
    std::array<int64_t, 2> strides;
  };

  static bool StridesFor(const std::vector<int64_t>& dims, const std::vector<int64_t>& out,
                         std::vector<int64_t>* strides) {
    if (dims.size() > out.size()) return false;
    strides->assign(out.size(), 0);
    int64_t step = 1;
    for (size_t i = 1; i <= dims.size(); ++i) {
      const int64_t size = dims[dims.size() - i];
      if (size != 1 && size != out[out.size() - i]) return false;
      if (size != 1) (*strides)[out.size() - i] = step;
      step *= size;
    }
    return true;
  }

  void Append(int64_t size, int64_t a, int64_t b) {
    if (!dims_.empty()) {
      Axis& last = dims_.back();
      if (last.strides[0] == a * size && last.strides[1] == b * size) {
        last = {last.size * size, {a, b}};
        return;
      }
    }
    dims_.push_back({size, {a, b}});
  }

  std::vector<Axis> dims_;
};

}  // namespace kheya

#endif  // KHEYA_KERNELS_PORTABLE_BROADCAST_H_
