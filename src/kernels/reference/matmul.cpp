#include "kernels/reference/matmul.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "kernels/reference/float_dispatch.h"

namespace kheya::kernels {
namespace {

// A matrix in memory: element (row, column) is data[row * row_stride + column * column_stride].
template <typename T>
struct Matrix {
  const T* data;
  int64_t row_stride;
  int64_t column_stride;
};

// y [m, n] = a b. The loops run along b's contiguous axis.
template <typename T>
void Multiply(const GemmSizes& sizes, Matrix<T> a, Matrix<T> b, T* y) {
  for (int64_t i = 0; i < sizes.m; ++i, y += sizes.n) {
    const T* a_row = a.data + i * a.row_stride;
    if (b.column_stride == 1) {
      std::fill_n(y, sizes.n, T{0});
      for (int64_t p = 0; p < sizes.k; ++p) {
        const T value = a_row[p * a.column_stride];
        const T* b_row = b.data + p * b.row_stride;
        for (int64_t j = 0; j < sizes.n; ++j) y[j] += value * b_row[j];
      }
      continue;
    }
    for (int64_t j = 0; j < sizes.n; ++j) {
      const T* b_column = b.data + j * b.column_stride;
      T sum = 0;
      for (int64_t p = 0; p < sizes.k; ++p) {
        sum += a_row[p * a.column_stride] * b_column[p * b.row_stride];
      }
      y[j] = sum;
    }
  }
}

template <typename T>
void MatMulTyped(const MatMulShapes& shapes, const T* a, const T* b, T* y) {
  const auto& [m, n, k] = shapes.sizes;
  for (int64_t i = 0; i < shapes.batch.num_elements(); ++i) {
    const int64_t a_index = BroadcastIndex(shapes.a_batch, shapes.batch, i);
    const int64_t b_index = BroadcastIndex(shapes.b_batch, shapes.batch, i);
    Multiply(shapes.sizes, Matrix<T>{a + a_index * m * k, k, 1},
             Matrix<T>{b + b_index * k * n, n, 1}, y + i * m * n);
  }
}

template <typename T>
T ScaleAs(float scale) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<int64_t>(scale));
  return static_cast<T>(scale);
}

template <typename T>
void GemmTyped(const GemmParams& params, const TensorView& a, const TensorView& b,
               const TensorView& c, const MutableTensorView& y) {
  const GemmSizes sizes = {y.shape[0], y.shape[1], params.trans_a ? a.shape[0] : a.shape[1]};
  const Matrix<T> a_matrix = {a.as<T>().data(), params.trans_a ? 1 : a.shape[1],
                              params.trans_a ? a.shape[1] : 1};
  const Matrix<T> b_matrix = {b.as<T>().data(), params.trans_b ? 1 : b.shape[1],
                              params.trans_b ? b.shape[1] : 1};
  T* out = y.as<T>().data();
  Multiply(sizes, a_matrix, b_matrix, out);
  const T alpha = ScaleAs<T>(params.alpha), beta = ScaleAs<T>(params.beta);
  const T* addend = static_cast<const T*>(c.data);
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    out[i] *= alpha;
    if (addend != nullptr) out[i] += beta * addend[BroadcastIndex(c.shape, y.shape, i)];
  }
}

Status CheckIntegerScale(const char* name, float scale) {
  if (std::trunc(scale) == scale && std::abs(scale) < 2147483648.0f) return OkStatus();
  return UnimplementedError("found {} of {} for integer matrices, supported are integers", name,
                            scale);
}

// Integers are multiplied as unsigned ones of their width: the same bits, and overflow wraps.
template <typename Function>
Status CallWithProductType(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::kInt32:
    case DType::kUint32:
      function(uint32_t{});
      return OkStatus();
    case DType::kInt64:
    case DType::kUint64:
      function(uint64_t{});
      return OkStatus();
    default:
      return CallWithFloatType(dtype, function);
  }
}

}  // namespace

Status MatMul(const MatMulShapes& shapes, const TensorView& a, const TensorView& b,
              const MutableTensorView& y) {
  return CallWithProductType(y.dtype, [&]<typename T>(T) {
    MatMulTyped(shapes, a.as<T>().data(), b.as<T>().data(), y.as<T>().data());
  });
}

Status Gemm(const GemmParams& params, const TensorView& a, const TensorView& b, const TensorView& c,
            const MutableTensorView& y) {
  if (IsInteger(y.dtype)) {
    KHEYA_RETURN_IF_ERROR(CheckIntegerScale("alpha", params.alpha));
    KHEYA_RETURN_IF_ERROR(CheckIntegerScale("beta", params.beta));
  }
  return CallWithProductType(y.dtype, [&]<typename T>(T) { GemmTyped<T>(params, a, b, c, y); });
}

namespace {

// Turns `m` into an upper triangle.
double Determinant(int64_t size, std::vector<double>& m) {
  double determinant = 1;
  for (int64_t column = 0; column < size; ++column) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < size; ++row) {
      if (std::abs(m[row * size + column]) > std::abs(m[pivot * size + column])) pivot = row;
    }
    const double value = m[pivot * size + column];
    if (pivot != column) {
      std::swap_ranges(m.begin() + pivot * size, m.begin() + (pivot + 1) * size,
                       m.begin() + column * size);
      determinant = -determinant;
    }
    determinant *= value;
    if (value == 0) return determinant;
    for (int64_t row = column + 1; row < size; ++row) {
      const double factor = m[row * size + column] / value;
      for (int64_t i = column; i < size; ++i) m[row * size + i] -= factor * m[column * size + i];
    }
  }
  return determinant;
}

}  // namespace

Status Determinants(int64_t size, const TensorView& x, const MutableTensorView& y) {
  return CallWithFloatType(x.dtype, [&]<typename T>(const T&) {
    const T* from = static_cast<const T*>(x.data);
    std::vector<double> matrix;
    for (T& value : y.as<T>()) {
      matrix.assign(from, from + size * size);
      from += size * size;
      value = static_cast<T>(Determinant(size, matrix));
    }
  });
}

}  // namespace kheya::kernels
