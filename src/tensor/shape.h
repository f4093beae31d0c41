// Shape: the known dimensions of a tensor, without allocation. Every dimension is at least 0 and
// the product of all fits int64: a Shape that exists is valid.
// SymbolicShape: dimensions that may be known, symbolic ("batch", 2*N+1) or unknown.
#ifndef KHEYA_TENSOR_SHAPE_H_
#define KHEYA_TENSOR_SHAPE_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tensor/dim.h"

namespace kheya {

inline constexpr int kMaxRank = 16;

class Shape {
 public:
  Shape() = default;  // a scalar
  // InvalidArgument for a negative dimension, a rank over kMaxRank or an overflowing product.
  // A product may be 0, but the product of the dimensions that are not 0 must fit as well.
  static Result<Shape> Create(std::span<const int64_t> dims);
  // For literals and dimensions known to be valid; an invalid one is a programming error.
  Shape(std::initializer_list<int64_t> dims);

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return dims_[axis]; }
  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.begin() + rank_; }
  int64_t num_elements() const { return count_; }
  // Product of dims [first, last).
  int64_t Product(int first, int last) const;
  std::string ToString() const;  // "[1,3,224,224]", "[]"
  bool operator==(const Shape& other) const;

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
  int64_t count_ = 1;
};

// Row-major strides in elements.
std::array<int64_t, kMaxRank> StridesOf(const Shape& shape);

// NumPy-style (multidirectional) broadcast. InvalidArgument naming both shapes.
Result<Shape> BroadcastShapes(const Shape& a, const Shape& b);

using SymbolicShape = std::vector<Dim>;

std::string ToString(const SymbolicShape& shape);  // "[batch,3,224,?]"
SymbolicShape ToSymbolic(const Shape& shape);
// The Shape when every dimension is known and valid.
std::optional<Shape> ToKnown(const SymbolicShape& shape);
// True when `shape` can be an instance of `pattern`, with equal symbols (whole symbols only) bound
// to equal values.
bool Matches(const SymbolicShape& pattern, const Shape& shape);
// Where the two are known to differ, InvalidArgument; where one is better known, that one.
Result<SymbolicShape> BroadcastShapes(const SymbolicShape& a, const SymbolicShape& b);

}  // namespace kheya

#endif  // KHEYA_TENSOR_SHAPE_H_
