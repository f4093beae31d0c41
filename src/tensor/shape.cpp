#include "tensor/shape.h"

#include <algorithm>
#include <map>

#include "base/checked_math.h"

namespace kheya {
namespace {

std::string DimsToString(std::span<const int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size() && i <= kMaxRank; ++i) {
    if (i > 0) text += ',';
    text += i == kMaxRank ? "..." : fmt::format("{}", dims[i]);
  }
  return text + "]";
}

// The dimension `from_end` places before the last, 1 where the shape has none.
template <typename Dimensions>
auto DimFromEnd(const Dimensions& dims, size_t size, size_t from_end) {
  using T = std::decay_t<decltype(dims[0])>;
  return from_end < size ? dims[size - 1 - from_end] : T(1);
}

Result<Dim> BroadcastDims(const Dim& a, const Dim& b) {
  if (a == b || b == Dim(1)) return a;
  if (a == Dim(1)) return b;
  if (a.known() && b.known()) {
    return InvalidArgumentError("found dimensions {} and {}, expected equal ones or 1", a.value(),
                                b.value());
  }
  // The one that is not known is 1 or equal to the known one.
  if (a.known()) return a;
  if (b.known()) return b;
  return Dim::Unknown();
}

}  // namespace

Result<Shape> Shape::Create(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank) {
    return InvalidArgumentError("found rank {} in shape {}, expected at most {}", dims.size(),
                                DimsToString(dims), kMaxRank);
  }
  Shape shape;
  int64_t product = 1;
  bool empty = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) {
      return InvalidArgumentError("found dimension {} in shape {}, expected at least 0", dims[i],
                                  DimsToString(dims));
    }
    empty = empty || dims[i] == 0;
    if (dims[i] != 0 && !CheckedMul(product, dims[i], &product)) {
      return InvalidArgumentError("found more elements in shape {} than can be counted",
                                  DimsToString(dims));
    }
    shape.dims_[i] = dims[i];
  }
  shape.rank_ = static_cast<int>(dims.size());
  shape.count_ = empty ? 0 : product;
  return shape;
}

Shape::Shape(std::initializer_list<int64_t> dims) {
  Result<Shape> shape = Create({dims.begin(), dims.size()});
  if (shape.ok()) *this = *shape;
}

int64_t Shape::Product(int first, int last) const {
  int64_t product = 1;
  for (int i = first; i < last; ++i) product *= dims_[i];
  return product;
}

std::string Shape::ToString() const { return DimsToString(dims()); }

bool Shape::operator==(const Shape& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

std::array<int64_t, kMaxRank> StridesOf(const Shape& shape) {
  std::array<int64_t, kMaxRank> strides{};
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

Result<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> dims(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t x = DimFromEnd(a.dims(), a.rank(), i);
    const int64_t y = DimFromEnd(b.dims(), b.rank(), i);
    if (x != y && x != 1 && y != 1) {
      return InvalidArgumentError("found shapes {} and {}, expected shapes that broadcast",
                                  a.ToString(), b.ToString());
    }
    dims[rank - 1 - i] = x == 1 ? y : x;
  }
  return Shape::Create(dims);
}

std::string ToString(const SymbolicShape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ',';
    text += shape[i].ToString();
  }
  return text + "]";
}

SymbolicShape ToSymbolic(const Shape& shape) { return {shape.begin(), shape.end()}; }

std::optional<Shape> ToKnown(const SymbolicShape& shape) {
  std::vector<int64_t> dims;
  for (const Dim& dim : shape) {
    if (!dim.known()) return std::nullopt;
    dims.push_back(dim.value());
  }
  Result<Shape> known = Shape::Create(dims);
  return known.ok() ? std::optional(*known) : std::nullopt;
}

bool Matches(const SymbolicShape& pattern, const Shape& shape) {
  if (pattern.size() != static_cast<size_t>(shape.rank())) return false;
  std::map<std::string, int64_t> bound;
  for (int i = 0; i < shape.rank(); ++i) {
    if (pattern[i].known() && pattern[i].value() != shape[i]) return false;
    const std::optional<std::string> symbol = pattern[i].symbol();
    if (symbol && bound.emplace(*symbol, shape[i]).first->second != shape[i]) return false;
  }
  return true;
}

Result<SymbolicShape> BroadcastShapes(const SymbolicShape& a, const SymbolicShape& b) {
  const size_t rank = std::max(a.size(), b.size());
  SymbolicShape dims(rank);
  for (size_t i = 0; i < rank; ++i) {
    Result<Dim> dim = BroadcastDims(DimFromEnd(a, a.size(), i), DimFromEnd(b, b.size(), i));
    if (!dim.ok()) {
      return InvalidArgumentError("found shapes {} and {}, expected shapes that broadcast",
                                  ToString(a), ToString(b));
    }
    dims[rank - 1 - i] = *std::move(dim);
  }
  return dims;
}

}  // namespace kheya
