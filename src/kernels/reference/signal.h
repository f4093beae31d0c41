// Fourier transforms, windows and mel filters.
#ifndef KHEYA_KERNELS_REFERENCE_SIGNAL_H_
#define KHEYA_KERNELS_REFERENCE_SIGNAL_H_

#include <complex>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

// y[k] = sum of x[n] exp(-2 pi i k n / size), or with a positive sign and divided by size when
// inverse, in place, in O(size log size): Cooley and Tukey for powers of two, Bluestein's chirp
// otherwise. In double; the relative L2 error is below 1e-14 for sizes up to 2^20.
class FourierTransform {
 public:
  FourierTransform(int64_t size, bool inverse);
  int64_t size() const { return size_; }
  // Bytes that a transform of this size and a row of it take, at most.
  static uint64_t MemoryBytes(int64_t size);
  void Run(std::span<std::complex<double>> x);

 private:
  using Complexes = std::vector<std::complex<double>>;
  static void PowerOfTwo(std::span<std::complex<double>> x, const Complexes& roots);

  int64_t size_;
  bool inverse_;
  Complexes roots_;   // of the power-of-two transform
  Complexes chirp_;   // Bluestein's, empty for powers of two
  Complexes filter_;  // the transformed conjugate chirp
  Complexes scratch_;
};

// Along the middle of [outer, places, inner] complex numbers.
struct DftParams {
  int64_t outer = 1;
  int64_t inner = 1;
  int64_t in_places = 0;   // of x; what is beyond `size` is cut, what is missing is 0
  int64_t in_parts = 2;    // numbers for each element of x: 1 (real) or 2
  int64_t out_places = 0;  // of y: the first of `size`
  int64_t out_parts = 2;   // 1: the real part alone
  int64_t size = 0;
  bool inverse = false;
  // x holds the first size / 2 + 1 places of a transform of real numbers.
  bool half_input = false;
  std::function<Status()> check_alive;  // asked before each transform
};
// x [outer, in_places, inner, in_parts], y [outer, out_places, inner, out_parts]; float32 or
// float64.
Status Dft(const DftParams& params, const TensorView& x, const MutableTensorView& y);

struct StftParams {
  int64_t batch = 0;
  int64_t length = 0;  // of each signal
  int64_t parts = 1;   // 1 (real) or 2
  int64_t frames = 0;
  int64_t frame_length = 0;
  int64_t step = 1;
  int64_t bins = 0;  // the first of frame_length
  std::function<Status()> check_alive;
};
// y [batch, frames, bins, 2]: the transform of each frame of x [batch, length, parts] times the
// window (empty: ones).
Status Stft(const StftParams& params, const TensorView& x, std::span<const double> window,
            const MutableTensorView& y);

enum class WindowKind : uint8_t { kHann, kHamming, kBlackman };
// Hann 0.5 - 0.5 cos(t), Hamming 25/46 - 21/46 cos(t), Blackman 0.42 - 0.5 cos(t) + 0.08 cos(2 t),
// with t = 2 pi n / size when periodic, else 2 pi n / (size - 1).
std::vector<double> MakeWindow(WindowKind kind, int64_t size, bool periodic);

struct MelParams {
  int64_t mel_bins = 0;
  int64_t dft_length = 0;
  int64_t sample_rate = 0;
  double lower_hertz = 0;
  double upper_hertz = 0;
};
// [dft_length / 2 + 1, mel_bins]: triangles of height 1 between neighbouring centres that are
// evenly apart in mel(f) = 2595 log10(1 + f / 700). InvalidArgument for edges that give no places.
Result<std::vector<double>> MelWeights(const MelParams& params);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_SIGNAL_H_
