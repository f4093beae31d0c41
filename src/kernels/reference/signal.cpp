#include "kernels/reference/signal.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "kernels/reference/float_dispatch.h"

namespace kheya::kernels {
namespace {

using Complex = std::complex<double>;

// exp(sign pi i numerator / denominator)
Complex RootOfUnity(double sign, int64_t numerator, int64_t denominator) {
  const double angle =
      std::numbers::pi * static_cast<double>(numerator) / static_cast<double>(denominator);
  return {std::cos(angle), sign * std::sin(angle)};
}

std::vector<Complex> RootsOf(int64_t size, double sign) {
  std::vector<Complex> roots;
  for (int64_t k = 0; k < size / 2; ++k) roots.push_back(RootOfUnity(sign, 2 * k, size));
  return roots;
}

void ReverseBits(std::span<Complex> x) {
  for (size_t i = 1, j = 0; i < x.size(); ++i) {
    size_t bit = x.size() / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
}

template <typename T>
Complex ElementOf(const T* x, int64_t parts) {
  return {static_cast<double>(x[0]), parts == 2 ? static_cast<double>(x[1]) : 0.0};
}

template <typename T>
Status DftTyped(const DftParams& p, const T* x, T* y) {
  FourierTransform transform(p.size, p.inverse);
  std::vector<Complex> row(static_cast<size_t>(p.size));
  const int64_t given = std::min(p.in_places, p.half_input ? p.size / 2 + 1 : p.size);
  for (int64_t o = 0; o < p.outer; ++o) {
    for (int64_t i = 0; i < p.inner; ++i) {
      if (p.check_alive) KHEYA_RETURN_IF_ERROR(p.check_alive());
      std::ranges::fill(row, Complex());
      for (int64_t n = 0; n < given; ++n) {
        row[n] = ElementOf(x + ((o * p.in_places + n) * p.inner + i) * p.in_parts, p.in_parts);
      }
      if (p.half_input) {
        // The other half is the conjugate mirror; what has none is real.
        row[0] = row[0].real();
        if (p.size % 2 == 0) row[p.size / 2] = row[p.size / 2].real();
        for (int64_t n = 1; n < (p.size + 1) / 2; ++n) row[p.size - n] = std::conj(row[n]);
      }
      transform.Run(row);
      for (int64_t n = 0; n < p.out_places; ++n) {
        T* to = y + ((o * p.out_places + n) * p.inner + i) * p.out_parts;
        to[0] = static_cast<T>(row[n].real());
        if (p.out_parts == 2) to[1] = static_cast<T>(row[n].imag());
      }
    }
  }
  return OkStatus();
}

template <typename T>
Status StftTyped(const StftParams& p, const T* x, std::span<const double> window, T* y) {
  FourierTransform transform(p.frame_length, false);
  std::vector<Complex> frame(static_cast<size_t>(p.frame_length));
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t f = 0; f < p.frames; ++f) {
      if (p.check_alive) KHEYA_RETURN_IF_ERROR(p.check_alive());
      for (int64_t n = 0; n < p.frame_length; ++n) {
        frame[n] = ElementOf(x + (b * p.length + f * p.step + n) * p.parts, p.parts);
        if (!window.empty()) frame[n] *= window[n];
      }
      transform.Run(frame);
      for (int64_t k = 0; k < p.bins; ++k) {
        *y++ = static_cast<T>(frame[k].real());
        *y++ = static_cast<T>(frame[k].imag());
      }
    }
  }
  return OkStatus();
}

}  // namespace

FourierTransform::FourierTransform(int64_t size, bool inverse) : size_(size), inverse_(inverse) {
  const double sign = inverse ? 1 : -1;
  if (std::has_single_bit(static_cast<uint64_t>(size))) {
    roots_ = RootsOf(size, sign);
    return;
  }
  if (size < 1) return;
  // x[n] w^(n^2/2) convolved with w^(-n^2/2), w the root of unity; n^2 is taken modulo 2 size, by
  // which it is a period.
  const auto padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * size - 1)));
  roots_ = RootsOf(padded, -1);
  filter_.assign(static_cast<size_t>(padded), Complex());
  int64_t square = 0;
  for (int64_t n = 0; n < size; ++n) {
    chirp_.push_back(RootOfUnity(sign, square, size));
    filter_[n] = std::conj(chirp_[n]);
    if (n > 0) filter_[padded - n] = filter_[n];
    square = (square + 2 * n + 1) % (2 * size);
  }
  PowerOfTwo(filter_, roots_);
  scratch_.resize(filter_.size());
}

uint64_t FourierTransform::MemoryBytes(int64_t size) {
  constexpr uint64_t kBytes = sizeof(Complexes::value_type);
  const auto places = static_cast<uint64_t>(size);
  // The row and the roots; then the chirp, and the filter and scratch of the padded size.
  if (std::has_single_bit(places)) return 2 * places * kBytes;
  return (2 * places + 3 * std::bit_ceil(2 * places - 1)) * kBytes;
}

void FourierTransform::PowerOfTwo(std::span<std::complex<double>> x, const Complexes& roots) {
  ReverseBits(x);
  for (size_t half = 1; half < x.size(); half *= 2) {
    const size_t stride = x.size() / (2 * half);
    for (size_t start = 0; start < x.size(); start += 2 * half) {
      for (size_t k = 0; k < half; ++k) {
        const Complex odd = x[start + half + k] * roots[k * stride];
        x[start + half + k] = x[start + k] - odd;
        x[start + k] += odd;
      }
    }
  }
}

void FourierTransform::Run(std::span<std::complex<double>> x) {
  if (chirp_.empty()) {
    PowerOfTwo(x, roots_);
  } else {
    std::ranges::fill(scratch_, Complex());
    for (size_t n = 0; n < chirp_.size(); ++n) scratch_[n] = x[n] * chirp_[n];
    PowerOfTwo(scratch_, roots_);
    // The inverse transform as the conjugate of the transform of the conjugate.
    for (size_t i = 0; i < scratch_.size(); ++i) scratch_[i] = std::conj(scratch_[i] * filter_[i]);
    PowerOfTwo(scratch_, roots_);
    const double scale = 1.0 / static_cast<double>(scratch_.size());
    for (size_t n = 0; n < chirp_.size(); ++n) {
      x[n] = std::conj(scratch_[n]) * scale * chirp_[n];
    }
  }
  if (!inverse_) return;
  for (Complex& value : x) value /= static_cast<double>(size_);
}

Status Dft(const DftParams& params, const TensorView& x, const MutableTensorView& y) {
  Status status;
  KHEYA_RETURN_IF_ERROR(CallWithFloatType(x.dtype, [&]<typename T>(const T&) {
    status = DftTyped(params, static_cast<const T*>(x.data), static_cast<T*>(y.data));
  }));
  return status;
}

Status Stft(const StftParams& params, const TensorView& x, std::span<const double> window,
            const MutableTensorView& y) {
  Status status;
  KHEYA_RETURN_IF_ERROR(CallWithFloatType(x.dtype, [&]<typename T>(const T&) {
    status = StftTyped(params, static_cast<const T*>(x.data), window, static_cast<T*>(y.data));
  }));
  return status;
}

std::vector<double> MakeWindow(WindowKind kind, int64_t size, bool periodic) {
  std::vector<double> window(static_cast<size_t>(size));
  const double period = static_cast<double>(std::max<int64_t>(periodic ? size : size - 1, 1));
  for (int64_t n = 0; n < size; ++n) {
    const double t = 2 * std::numbers::pi * static_cast<double>(n) / period;
    switch (kind) {
      case WindowKind::kHann:
        window[n] = 0.5 - 0.5 * std::cos(t);
        break;
      case WindowKind::kHamming:
        window[n] = 25.0 / 46 - 21.0 / 46 * std::cos(t);
        break;
      case WindowKind::kBlackman:
        window[n] = 0.42 - 0.5 * std::cos(t) + 0.08 * std::cos(2 * t);
    }
  }
  return window;
}

Result<std::vector<double>> MelWeights(const MelParams& params) {
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const auto hertz = [](double mels) { return 700 * (std::pow(10, mels / 2595) - 1); };
  const double low = mel(params.lower_hertz);
  const double step = (mel(params.upper_hertz) - low) / static_cast<double>(params.mel_bins + 2);
  const int64_t places = params.dft_length / 2 + 1;
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < params.mel_bins + 2; ++i) {
    const double place = std::floor(static_cast<double>(params.dft_length + 1) *
                                    hertz(low + step * static_cast<double>(i)) /
                                    static_cast<double>(params.sample_rate));
    if (!(place >= 0 && place < static_cast<double>(places))) {
      return InvalidArgumentError("found an edge at place {}, expected one of [0, {})", place,
                                  places);
    }
    edges.push_back(static_cast<int64_t>(place));
  }
  std::vector<double> weights(static_cast<size_t>(places * params.mel_bins), 0.0);
  for (int64_t bin = 0; bin < params.mel_bins; ++bin) {
    const int64_t left = edges[bin], centre = edges[bin + 1], right = edges[bin + 2];
    for (int64_t place = left; place < right; ++place) {
      double& weight = weights[place * params.mel_bins + bin];
      if (place < centre) {
        weight = static_cast<double>(place - left) / static_cast<double>(centre - left);
      } else {
        weight = static_cast<double>(right - place) / static_cast<double>(right - centre);
      }
    }
    weights[centre * params.mel_bins + bin] = 1;
  }
  return weights;
}

}  // namespace kheya::kernels
