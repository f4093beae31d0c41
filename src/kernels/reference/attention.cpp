#include "kernels/reference/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/reference/float_dispatch.h"

namespace kheya::kernels {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

template <typename T>
class AttentionLoop {
 public:
  AttentionLoop(const AttentionParams& params, const T* q, const T* k, const T* v,
                std::span<const double> bias, std::span<const int64_t> valid_keys, T* y, T* scores)
      : p_(params),
        q_(q),
        k_(k),
        v_(v),
        bias_(bias),
        valid_keys_(valid_keys),
        y_(y),
        scores_(scores),
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
    const int64_t kv_head = h / (p_.heads / p_.kv_heads);
    Products(b, h, i, kv_head);
    Give(AttentionScores::kProducts, b, h, i);
    Cap();
    Give(AttentionScores::kCapped, b, h, i);
    AddBias(b, h, i);
    Give(AttentionScores::kWithBias, b, h, i);
    Softmax(h);
    Give(AttentionScores::kProbabilities, b, h, i);
    Answer(b, h, i, kv_head);
  }

  void Products(int64_t b, int64_t h, int64_t i, int64_t kv_head) {
    const T* query = q_ + p_.query_strides.At(b, h, i);
    for (int64_t j = 0; j < p_.keys; ++j) {
      const T* key = k_ + p_.key_strides.At(b, kv_head, j);
      double sum = 0;
      for (int64_t d = 0; d < p_.head_size; ++d) {
        sum += static_cast<double>(query[d]) * static_cast<double>(key[d]);
      }
      row_[j] = sum * p_.scale;
    }
  }

  void Cap() {
    if (p_.softcap <= 0) return;
    for (double& s : row_) s = p_.softcap * std::tanh(s / p_.softcap);
  }

  // Masks the keys outside [begin, end), which query i does not see.
  void AddBias(int64_t b, int64_t h, int64_t i) {
    const int64_t valid =
        valid_keys_.empty() ? p_.keys : std::clamp<int64_t>(valid_keys_[b], 0, p_.keys);
    const int64_t place = i + (p_.first_query_from_end ? valid - p_.queries : p_.first_query);
    int64_t begin = 0;
    int64_t end = valid;
    if (p_.causal) end = std::min(end, place + 1);
    if (p_.right_window >= 0) end = std::min(end, place + p_.right_window + 1);
    if (p_.left_window >= 0) begin = std::max(begin, place - p_.left_window);
    if (!bias_.empty()) end = std::min(end, p_.bias_keys);
    end = std::max<int64_t>(end, 0);
    begin = std::min(begin, end);
    if (!bias_.empty()) {
      const double* bias = bias_.data() + p_.bias_strides.At(b, h, i);
      for (int64_t j = begin; j < end; ++j) row_[j] += bias[j * p_.bias_key_stride];
    }
    std::fill(row_.begin(), row_.begin() + begin, kMasked);
    std::fill(row_.begin() + end, row_.end(), kMasked);
  }

  void Softmax(int64_t h) {
    const double sink = p_.sinks.empty() ? kMasked : p_.sinks[h];
    const double largest = row_.empty() ? sink : std::max(sink, *std::ranges::max_element(row_));
    double sum = largest == kMasked ? 0 : std::exp(sink - largest);
    for (double& s : row_) {
      s = largest == kMasked ? 0 : std::exp(s - largest);
      sum += s;
    }
    for (double& s : row_) s = sum == 0 ? 0 : s / sum;
  }

  void Answer(int64_t b, int64_t h, int64_t i, int64_t kv_head) {
    sums_.assign(static_cast<size_t>(p_.value_size), 0);
    for (int64_t j = 0; j < p_.keys; ++j) {
      if (row_[j] == 0) continue;
      const T* value = v_ + p_.value_strides.At(b, kv_head, j);
      for (int64_t d = 0; d < p_.value_size; ++d) sums_[d] += row_[j] * value[d];
    }
    T* out = y_ + p_.output_strides.At(b, h, i);
    for (int64_t d = 0; d < p_.value_size; ++d) out[d] = static_cast<T>(sums_[d]);
  }

  void Give(AttentionScores what, int64_t b, int64_t h, int64_t i) {
    if (scores_ == nullptr || what != p_.scores) return;
    T* out = scores_ + ((b * p_.heads + h) * p_.queries + i) * p_.keys;
    for (int64_t j = 0; j < p_.keys; ++j) out[j] = static_cast<T>(row_[j]);
  }

  const AttentionParams& p_;
  const T* q_;
  const T* k_;
  const T* v_;
  const std::span<const double> bias_;
  const std::span<const int64_t> valid_keys_;
  T* y_;
  T* scores_;
  std::vector<double> row_;   // one query's scores
  std::vector<double> sums_;  // one query's answer
};

template <typename T>
void Rotate(const RotaryParams& p, int64_t angles, const T* x, const T* cos, const T* sin, T* y) {
  const int64_t half = p.rotated / 2;
  const T* c = cos + angles * half;
  const T* s = sin + angles * half;
  for (int64_t i = 0; i < half; ++i) {
    const int64_t first = p.interleaved ? 2 * i : i;
    const int64_t second = p.interleaved ? 2 * i + 1 : half + i;
    const T a = x[first];
    const T b = x[second];
    y[first] = c[i] * a - s[i] * b;
    y[second] = s[i] * a + c[i] * b;
  }
  for (int64_t i = p.rotated; i < p.head_size; ++i) y[i] = x[i];
}

}  // namespace

Status Attention(const AttentionParams& params, const TensorView& q, const TensorView& k,
                 const TensorView& v, std::span<const double> bias,
                 std::span<const int64_t> valid_keys, const MutableTensorView& y,
                 const MutableTensorView& scores) {
  return CallWithFloatType(q.dtype, [&]<typename T>(const T&) {
    AttentionLoop<T>(params, static_cast<const T*>(q.data), static_cast<const T*>(k.data),
                     static_cast<const T*>(v.data), bias, valid_keys, static_cast<T*>(y.data),
                     static_cast<T*>(scores.data))
        .Run();
  });
}

Status RotaryEmbedding(const RotaryParams& params, std::span<const int64_t> angle_rows,
                       const TensorView& x, const TensorView& cos_cache,
                       const TensorView& sin_cache, const MutableTensorView& y) {
  return CallWithFloatType(x.dtype, [&]<typename T>(const T&) {
    const T* cos = static_cast<const T*>(cos_cache.data);
    const T* sin = static_cast<const T*>(sin_cache.data);
    for (int64_t b = 0; b < params.batch; ++b) {
      for (int64_t h = 0; h < params.heads; ++h) {
        for (int64_t i = 0; i < params.length; ++i) {
          const int64_t at = params.strides.At(b, h, i);
          Rotate(params, angle_rows[b * params.length + i], static_cast<const T*>(x.data) + at, cos,
                 sin, static_cast<T*>(y.data) + at);
        }
      }
    }
  });
}

}  // namespace kheya::kernels
