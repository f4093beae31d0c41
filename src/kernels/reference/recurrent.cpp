#include "kernels/reference/recurrent.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/float_dispatch.h"
#include "kernels/reference/quantize.h"

namespace kheya::kernels {
namespace {

double Apply(const RecurrentActivation& activation, double x) {
  switch (activation.function) {
    case RecurrentFunction::kAffine:
      return activation.alpha * x + activation.beta;
    case RecurrentFunction::kElu:
      return x >= 0 ? x : activation.alpha * std::expm1(x);
    case RecurrentFunction::kHardSigmoid:
      return std::clamp(activation.alpha * x + activation.beta, 0.0, 1.0);
    case RecurrentFunction::kLeakyRelu:
      return x >= 0 ? x : activation.alpha * x;
    case RecurrentFunction::kRelu:
      return std::max(x, 0.0);
    case RecurrentFunction::kScaledTanh:
      return activation.alpha * std::tanh(activation.beta * x);
    case RecurrentFunction::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case RecurrentFunction::kSoftplus:
      return std::log1p(std::exp(-std::abs(x))) + std::max(x, 0.0);
    case RecurrentFunction::kSoftsign:
      return x / (1 + std::abs(x));
    case RecurrentFunction::kTanh:
      return std::tanh(x);
    case RecurrentFunction::kThresholdedRelu:
      return x > activation.alpha ? x : 0;
  }
  return x;
}

int64_t GatesOf(Cell cell) { return cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1; }

template <typename T>
const T* DataOf(const TensorView& view, int64_t offset) {
  return view.data == nullptr ? nullptr : static_cast<const T*>(view.data) + offset;
}

// One direction of one sequence.
template <typename T>
class SequenceRun {
 public:
  SequenceRun(const RecurrentParams& params, const RecurrentInputs& inputs,
              const RecurrentOutputs& outputs, int64_t direction)
      : p_(params),
        in_(inputs),
        out_(outputs),
        d_(direction),
        num_directions_(static_cast<int64_t>(params.directions.size())),
        gates_(GatesOf(params.cell)),
        w_(DataOf<T>(inputs.w, direction * gates_ * params.hidden * params.input)),
        r_(DataOf<T>(inputs.r, direction * gates_ * params.hidden * params.hidden)),
        bias_(DataOf<T>(inputs.bias, direction * 2 * gates_ * params.hidden)),
        peepholes_(DataOf<T>(inputs.peepholes, direction * 3 * params.hidden)),
        activations_(params.directions[direction].activations),
        from_x_(gates_ * params.hidden),
        from_h_(gates_ * params.hidden),
        h_(params.hidden),
        next_(params.hidden),
        c_(params.hidden) {}

  void Run(int64_t b) {
    const int64_t length = in_.lengths.empty() ? p_.length : in_.lengths[b];
    Load(in_.h, b, h_);
    Load(in_.c, b, c_);
    for (int64_t step = 0; step < p_.length; ++step) {
      if (step >= length) {
        Store(step, b, nullptr);
        continue;
      }
      const int64_t t = p_.directions[d_].reverse ? length - 1 - step : step;
      Products(w_, p_.input, DataOf<T>(in_.x, XIndex(t, b)), bias_, from_x_);
      Products(r_, p_.hidden, StateForProducts(),
               bias_ == nullptr ? nullptr : bias_ + gates_ * p_.hidden, from_h_);
      Step();
      std::swap(h_, next_);
      Store(t, b, h_.data());
    }
    Save(out_.last_h, b, h_);
    Save(out_.last_c, b, c_);
  }

 private:
  int64_t XIndex(int64_t t, int64_t b) const {
    return (p_.batch_first ? b * p_.length + t : t * p_.batch + b) * p_.input;
  }
  int64_t StateIndex(int64_t b) const {
    return (p_.batch_first ? b * num_directions_ + d_ : d_ * p_.batch + b) * p_.hidden;
  }

  void Load(const TensorView& view, int64_t b, std::vector<double>& state) const {
    const T* from = DataOf<T>(view, StateIndex(b));
    for (int64_t i = 0; i < p_.hidden; ++i) state[i] = from == nullptr ? 0 : double{from[i]};
  }

  // The state, or the numbers that it is rounded to.
  const double* StateForProducts() {
    if (!p_.quantize_states) return h_.data();
    std::vector<float> values(h_.begin(), h_.end());
    RoundToDynamicScale(values);
    rounded_.assign(values.begin(), values.end());
    return rounded_.data();
  }

  void Save(const MutableTensorView& view, int64_t b, const std::vector<double>& state) const {
    if (view.data == nullptr) return;
    T* to = static_cast<T*>(view.data) + StateIndex(b);
    for (int64_t i = 0; i < p_.hidden; ++i) to[i] = static_cast<T>(state[i]);
  }

  void Store(int64_t t, int64_t b, const double* h) const {
    if (out_.y.data == nullptr) return;
    const int64_t at = p_.batch_first ? (b * p_.length + t) * num_directions_ + d_
                                      : (t * num_directions_ + d_) * p_.batch + b;
    T* to = static_cast<T*>(out_.y.data) + at * p_.hidden;
    for (int64_t i = 0; i < p_.hidden; ++i) to[i] = h == nullptr ? T{} : static_cast<T>(h[i]);
  }

  // out = matrix [gates hidden, size] vector + bias.
  template <typename V>
  void Products(const T* matrix, int64_t size, const V* vector, const T* bias,
                std::vector<double>& out) const {
    for (int64_t row = 0; row < gates_ * p_.hidden; ++row) {
      double sum = bias == nullptr ? 0 : double{bias[row]};
      const T* weights = matrix + row * size;
      for (int64_t i = 0; i < size; ++i) sum += double{weights[i]} * double{vector[i]};
      out[row] = sum;
    }
  }

  double Activate(int which, double x) const {
    if (p_.clip > 0) x = std::clamp(x, -p_.clip, p_.clip);
    return Apply(activations_[which], x);
  }

  double Peephole(int64_t gate, int64_t i) const {
    return peepholes_ == nullptr ? 0 : double{peepholes_[gate * p_.hidden + i]};
  }

  void Step() {
    switch (p_.cell) {
      case Cell::kRnn:
        for (int64_t i = 0; i < p_.hidden; ++i) next_[i] = Activate(0, from_x_[i] + from_h_[i]);
        return;
      case Cell::kGru:
        return GruStep();
      case Cell::kLstm:
        return LstmStep();
    }
  }

  void GruStep() {
    const int64_t n = p_.hidden;
    std::vector<double>& reset = next_;  // r h, or r alone when it comes after the product
    for (int64_t i = 0; i < n; ++i) {
      const double r = Activate(0, from_x_[n + i] + from_h_[n + i]);
      reset[i] = p_.linear_before_reset ? r : r * h_[i];
    }
    candidate_.resize(n);
    for (int64_t i = 0; i < n; ++i) {
      double sum = from_x_[2 * n + i];
      if (p_.linear_before_reset) {
        sum += reset[i] * from_h_[2 * n + i];
      } else {
        sum += bias_ == nullptr ? 0 : double{bias_[5 * n + i]};
        const T* weights = r_ + (2 * n + i) * n;
        for (int64_t j = 0; j < n; ++j) sum += double{weights[j]} * reset[j];
      }
      candidate_[i] = Activate(1, sum);
    }
    for (int64_t i = 0; i < n; ++i) {
      const double z = Activate(0, from_x_[i] + from_h_[i]);
      next_[i] = (1 - z) * candidate_[i] + z * h_[i];
    }
  }

  void LstmStep() {
    const int64_t n = p_.hidden;
    for (int64_t i = 0; i < n; ++i) {
      const auto gate = [&](int64_t g) { return from_x_[g * n + i] + from_h_[g * n + i]; };
      const double input = Activate(0, gate(0) + Peephole(0, i) * c_[i]);
      const double forget =
          p_.input_forget ? 1 - input : Activate(0, gate(2) + Peephole(2, i) * c_[i]);
      c_[i] = forget * c_[i] + input * Activate(1, gate(3));
      const double output = Activate(0, gate(1) + Peephole(1, i) * c_[i]);
      next_[i] = output * Apply(activations_[2], c_[i]);
    }
  }

  const RecurrentParams& p_;
  const RecurrentInputs& in_;
  const RecurrentOutputs& out_;
  const int64_t d_;
  const int64_t num_directions_;
  const int64_t gates_;
  const T* w_;
  const T* r_;
  const T* bias_;
  const T* peepholes_;
  const std::array<RecurrentActivation, 3>& activations_;
  std::vector<double> rounded_;
  std::vector<double> from_x_;
  std::vector<double> from_h_;
  std::vector<double> h_;
  std::vector<double> next_;
  std::vector<double> c_;
  std::vector<double> candidate_;
};

}  // namespace

Status Recurrent(const RecurrentParams& params, const RecurrentInputs& inputs,
                 const RecurrentOutputs& outputs) {
  return CallWithFloatType(inputs.x.dtype, [&]<typename T>(const T&) {
    for (size_t d = 0; d < params.directions.size(); ++d) {
      SequenceRun<T> run(params, inputs, outputs, static_cast<int64_t>(d));
      for (int64_t b = 0; b < params.batch; ++b) run.Run(b);
    }
  });
}

}  // namespace kheya::kernels
