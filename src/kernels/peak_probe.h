// The most that one core does in a second, measured: what fractions of peak and of the roofline are
// fractions of.
#ifndef KHEYA_KERNELS_PEAK_PROBE_H_
#define KHEYA_KERNELS_PEAK_PROBE_H_

#include <cstdint>

namespace kheya {

// GFLOP/s of one core (a fused multiply-add counts as two): independent multiply-adds in registers
// with the widest vectors that this processor has, the best of several short rounds. Takes about
// 50 ms the first time; later calls give the same number. Thread safety: yes.
double ProbePeakGflops();

// GB/s of one core over as many bytes as that (rounded up to a power of two, at most 256 MiB): the
// better of reading them and of copying one half to the other, which counts both. Takes some
// milliseconds the first time for each size; later calls give the same number; 0 where there is no
// memory for it. Thread safety: yes.
double ProbeBandwidth(uint64_t bytes);

}  // namespace kheya

#endif  // KHEYA_KERNELS_PEAK_PROBE_H_
