// Broadcast: where the operands of a broadcast result find their elements, row by row.
//
//   const Broadcast loop(out.shape, {&a.shape, &b.shape});
//   loop.ForEachRow([&](int64_t at, std::span<const int64_t> offsets, int64_t count) {
//     for (int64_t i = 0; i < count; ++i)
//       out[at + i] = a[offsets[0] + i * loop.row_stride(0)] + b[offsets[1] + ...];
//   });
#ifndef KHEYA_KERNELS_REFERENCE_BROADCAST_H_
#define KHEYA_KERNELS_REFERENCE_BROADCAST_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "tensor/shape.h"

namespace kheya::kernels {

class Broadcast {
 public:
  static constexpr size_t kMaxOperands = 3;

  // Each operand must broadcast to `out`. Axes that all operands walk alike become one.
  Broadcast(const Shape& out, std::initializer_list<const Shape*> operands)
      : num_operands_(operands.size()) {
    std::array<std::array<int64_t, kMaxRank>, kMaxOperands> strides{};
    size_t operand = 0;
    for (const Shape* shape : operands) strides[operand++] = StridesFor(out, *shape);
    empty_ = out.num_elements() == 0;
    for (int axis = out.rank(); axis-- > 0;) {
      if (out[axis] == 1) continue;
      Axis next{out[axis], {}};
      for (size_t i = 0; i < num_operands_; ++i) next.strides[i] = strides[i][axis];
      if (axes_.empty() || !Merge(next)) axes_.push_back(next);
    }
    if (axes_.empty()) axes_.push_back({1, {}});
  }

  // 0 or 1: by how much an operand moves along a row.
  int64_t row_stride(size_t operand) const { return axes_[0].strides[operand]; }

  // row(at, offsets, count): `count` elements of the result from `at`; each operand's begin at its
  // offset.
  template <typename Row>
  void ForEachRow(Row&& row) const {
    if (empty_) return;
    std::array<int64_t, kMaxOperands> offsets{};
    std::array<int64_t, kMaxRank> index{};
    int64_t at = 0;
    const int64_t count = axes_[0].size;
    do {
      row(at, std::span<const int64_t>(offsets.data(), num_operands_), count);
      at += count;
    } while (Next(index, offsets));
  }

 private:
  struct Axis {
    int64_t size;
    std::array<int64_t, kMaxOperands> strides;
  };

  static std::array<int64_t, kMaxRank> StridesFor(const Shape& out, const Shape& operand) {
    const auto dense = StridesOf(operand);
    std::array<int64_t, kMaxRank> strides{};
    const int skipped = out.rank() - operand.rank();
    for (int axis = skipped; axis < out.rank(); ++axis) {
      strides[axis] = operand[axis - skipped] == 1 ? 0 : dense[axis - skipped];
    }
    return strides;
  }

  // Makes `next`, the axis outside the last one, part of it when it goes on where that one ends.
  bool Merge(const Axis& next) {
    Axis& last = axes_.back();
    for (size_t i = 0; i < num_operands_; ++i) {
      if (next.strides[i] != last.strides[i] * last.size) return false;
    }
    last.size *= next.size;
    return true;
  }

  bool Next(std::array<int64_t, kMaxRank>& index,
            std::array<int64_t, kMaxOperands>& offsets) const {
    for (size_t axis = 1; axis < axes_.size(); ++axis) {
      const Axis& outer = axes_[axis];
      for (size_t i = 0; i < num_operands_; ++i) offsets[i] += outer.strides[i];
      if (++index[axis] < outer.size) return true;
      index[axis] = 0;
      for (size_t i = 0; i < num_operands_; ++i) offsets[i] -= outer.strides[i] * outer.size;
    }
    return false;
  }

  size_t num_operands_;
  bool empty_ = false;
  std::vector<Axis> axes_;  // the innermost first
};

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_BROADCAST_H_
