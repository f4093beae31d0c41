// The most float32 operations that one core does in a second, measured: what fractions of peak are
// fractions of.
#ifndef KHEYA_KERNELS_PEAK_PROBE_H_
#define KHEYA_KERNELS_PEAK_PROBE_H_

namespace kheya {

// GFLOP/s of one core (a fused multiply-add counts as two): independent multiply-adds in registers
// with the widest vectors that this processor has, the best of several short rounds. Takes about
// 50 ms the first time; later calls give the same number. Thread safety: yes.
double ProbePeakGflops();

}  // namespace kheya

#endif  // KHEYA_KERNELS_PEAK_PROBE_H_
