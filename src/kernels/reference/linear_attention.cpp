#include "kernels/reference/linear_attention.h"

#include <cmath>
#include <vector>

namespace kheya::kernels {
namespace {

// One head's memory of what it has seen.
struct State {
  float* data;
  int64_t keys;
  int64_t values;

  float& at(int64_t k, int64_t v) const { return data[k * values + v]; }

  // sum over k of x[k] * S[k, v]
  double Read(const float* x, int64_t v) const {
    double sum = 0;
    for (int64_t k = 0; k < keys; ++k) sum += static_cast<double>(x[k]) * at(k, v);
    return sum;
  }

  void Fade(const float* decay, int64_t decays) const {
    for (int64_t k = 0; k < keys; ++k) {
      const double factor = std::exp(static_cast<double>(decay[decays == 1 ? 0 : k]));
      for (int64_t v = 0; v < values; ++v) at(k, v) = static_cast<float>(at(k, v) * factor);
    }
  }
};

}  // namespace

void LinearAttention(const LinearAttentionParams& params, const TensorView& query,
                     const TensorView& key, const TensorView& value, const TensorView& decay,
                     const TensorView& rate, const MutableTensorView& state,
                     const MutableTensorView& output) {
  const auto& p = params;
  const auto* q = static_cast<const float*>(query.data);
  const auto* k = static_cast<const float*>(key.data);
  const auto* v = static_cast<const float*>(value.data);
  const auto* g = static_cast<const float*>(decay.data);
  const auto* r = static_cast<const float*>(rate.data);
  auto* states = static_cast<float*>(state.data);
  auto* out = static_cast<float*>(output.data);
  if (p.batch * p.length == 0) return;  // the sizes of heads may be anything then
  const int64_t group = p.query_heads / p.heads;
  std::vector<double> written(static_cast<size_t>(p.value_size));
  for (int64_t token = 0; token < p.batch * p.length; ++token) {
    for (int64_t head = 0; head < p.heads; ++head) {
      const int64_t at = token * p.heads + head;
      const int64_t batch = token / p.length;
      const State s = {states + (batch * p.heads + head) * p.key_size * p.value_size, p.key_size,
                       p.value_size};
      const float* key_row = k + at * p.key_size;
      const float* value_row = v + at * p.value_size;
      if (p.decays > 0) s.Fade(g + at * p.decays, p.decays);
      for (int64_t i = 0; i < p.value_size; ++i) {
        written[i] = value_row[i];
        if (p.rates == 0) continue;
        const float by = r[token * p.rates + (p.rates == 1 ? 0 : head)];
        written[i] = by * (written[i] - s.Read(key_row, i));
      }
      for (int64_t i = 0; i < p.key_size; ++i) {
        for (int64_t j = 0; j < p.value_size; ++j) {
          s.at(i, j) = static_cast<float>(s.at(i, j) + key_row[i] * written[j]);
        }
      }
      for (int64_t reader = head * group; reader < (head + 1) * group; ++reader) {
        const int64_t row = token * p.query_heads + reader;
        for (int64_t i = 0; i < p.value_size; ++i) {
          out[row * p.value_size + i] =
              static_cast<float>(p.scale * s.Read(q + row * p.key_size, i));
        }
      }
    }
  }
}

void CausalConv(const CausalConvParams& params, const TensorView& input, const TensorView& weight,
                const TensorView& bias, const TensorView& past, const MutableTensorView& output,
                const MutableTensorView& present) {
  const int64_t kept = params.window - 1;
  const auto* biases = static_cast<const float*>(bias.data);
  for (int64_t row = 0; row < params.batch * params.channels; ++row) {
    const int64_t channel = row % params.channels;
    const auto* x = static_cast<const float*>(input.data) + row * params.length;
    const auto* before = static_cast<const float*>(past.data);
    // Place 0 is the first of the input.
    const auto at = [&](int64_t place) {
      if (place >= 0) return x[place];
      return before == nullptr ? 0.0f : before[(row + 1) * kept + place];
    };
    const auto* w = static_cast<const float*>(weight.data) + channel * params.window;
    auto* out = static_cast<float*>(output.data) + row * params.length;
    for (int64_t t = 0; t < params.length; ++t) {
      double sum = biases == nullptr ? 0 : biases[channel];
      for (int64_t i = 0; i < params.window; ++i) {
        sum += static_cast<double>(w[i]) * at(t - kept + i);
      }
      out[t] = static_cast<float>(sum);
    }
    if (present.data == nullptr) continue;
    auto* last = static_cast<float*>(present.data) + row * kept;
    for (int64_t i = 0; i < kept; ++i) last[i] = at(params.length - kept + i);
  }
}

}  // namespace kheya::kernels
