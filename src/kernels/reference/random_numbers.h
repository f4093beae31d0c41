// Random numbers of operators: the Mersenne twister as NumPy's RandomState uses it, so that a seed
// gives the numbers that ONNX's reference evaluator gives.
#ifndef KHEYA_KERNELS_REFERENCE_RANDOM_NUMBERS_H_
#define KHEYA_KERNELS_REFERENCE_RANDOM_NUMBERS_H_

#include <cstdint>
#include <random>

namespace kheya::kernels {

class RandomNumbers {
 public:
  explicit RandomNumbers(uint32_t seed) : generator_(seed) {}
  // In [0, 1), with 53 bits.
  double Uniform();
  // Mean 0, deviation 1 (Marsaglia's polar method; every second number is kept from the one
  // before).
  double Normal();

 private:
  std::mt19937 generator_;
  bool has_kept_ = false;
  double kept_ = 0;
};

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_RANDOM_NUMBERS_H_
