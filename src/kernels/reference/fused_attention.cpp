#include "kernels/reference/fused_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/float_dispatch.h"

namespace kheya::kernels {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

template <typename T>
class Loop {
 public:
  Loop(const FusedAttentionParams& params, const TensorView& q, const TensorView& k,
       const TensorView& v, const TensorView& mask, const MutableTensorView& y)
      : p_(params),
        q_(static_cast<const T*>(q.data) + params.q_offset),
        k_(static_cast<const T*>(k.data) + params.k_offset),
        v_(static_cast<const T*>(v.data) + params.v_offset),
        mask_(mask),
        y_(static_cast<T*>(y.data)),
        row_(static_cast<size_t>(params.keys)) {}

  void Run() {
    for (int64_t b = 0; b < p_.batch; ++b) {
      for (int64_t h = 0; h < p_.heads; ++h) {
        for (int64_t i = 0; i < p_.queries; ++i) Query(b, h, i);
      }
    }
  }

 private:
  void Query(int64_t b, int64_t h, int64_t i) {
    const T* query = q_ + p_.q_strides.At(b, h, i);
    for (int64_t j = 0; j < p_.keys; ++j) {
      const T* key = k_ + p_.k_strides.At(b, h, j);
      double sum = 0;
      for (int64_t d = 0; d < p_.qk_size; ++d) sum += double{query[d]} * double{key[d]};
      row_[j] = Masked(sum * p_.scale, p_.mask_strides.At(b, h, i) + j * p_.mask_key_stride);
      if (p_.causal && j > i) row_[j] = kHidden;
    }
    Softmax();
    T* out = y_ + p_.y_strides.At(b, h, i);
    for (int64_t d = 0; d < p_.v_size; ++d) {
      double sum = 0;
      for (int64_t j = 0; j < p_.keys; ++j) {
        sum += row_[j] * double{v_[p_.v_strides.At(b, h, j) + d]};
      }
      out[d] = static_cast<T>(sum);
    }
  }

  double Masked(double score, int64_t at) const {
    if (mask_.data == nullptr) return score;
    if (mask_.dtype != DType::kBool) return score + double{static_cast<const T*>(mask_.data)[at]};
    return static_cast<const bool*>(mask_.data)[at] ? score : p_.masked_score;
  }

  void Softmax() {
    double largest = kHidden;
    for (double s : row_) largest = std::max(largest, s);
    const bool hidden = std::ranges::all_of(row_, [](double s) { return s == kHidden; });
    double sum = 0;
    for (double& s : row_) {
      s = std::exp(s - largest);
      sum += s;
    }
    for (double& s : row_) s /= sum;
    const bool zeroed = p_.undefined == UndefinedRows::kAllZeroed ||
                        (p_.undefined == UndefinedRows::kZeroed && hidden);
    if (!zeroed) return;
    for (double& s : row_) s = std::isnan(s) ? 0 : s;
  }

  const FusedAttentionParams& p_;
  const T* q_;
  const T* k_;
  const T* v_;
  const TensorView& mask_;
  T* y_;
  std::vector<double> row_;  // one query's scores
};

}  // namespace

Status FusedAttention(const FusedAttentionParams& params, const TensorView& q, const TensorView& k,
                      const TensorView& v, const TensorView& mask, const MutableTensorView& y) {
  return CallWithFloatType(q.dtype,
                           [&]<typename T>(const T&) { Loop<T>(params, q, k, v, mask, y).Run(); });
}

}  // namespace kheya::kernels
