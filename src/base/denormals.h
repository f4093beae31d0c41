// Floating-point modes of the calling thread: denormal numbers cost a hundred times more than
// others on many processors and carry nothing that inference needs.
#ifndef KHEYA_BASE_DENORMALS_H_
#define KHEYA_BASE_DENORMALS_H_

#include <cstdint>

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

namespace kheya {

// The control register: MXCSR on x86, FPCR on Arm 64; 0 elsewhere, where setting does nothing.
inline uint64_t GetFloatMode() {
#if defined(__x86_64__) || defined(__i386__)
  return _mm_getcsr();
#elif defined(__aarch64__)
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
#else
  return 0;
#endif
}

inline void SetFloatMode([[maybe_unused]] uint64_t mode) {
#if defined(__x86_64__) || defined(__i386__)
  _mm_setcsr(static_cast<unsigned int>(mode));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" : : "r"(mode));
#endif
}

// Denormal inputs and results count as zero while this lives; the caller's mode comes back at the
// end. Workers of Runtime::ParallelFor take over the mode of their caller.
class ScopedFlushDenormals {
 public:
  ScopedFlushDenormals() : saved_(GetFloatMode()) { SetFloatMode(saved_ | kFlush); }
  ScopedFlushDenormals(const ScopedFlushDenormals&) = delete;
  ScopedFlushDenormals& operator=(const ScopedFlushDenormals&) = delete;
  ~ScopedFlushDenormals() { SetFloatMode(saved_); }

 private:
#if defined(__aarch64__)
  static constexpr uint64_t kFlush = uint64_t{1} << 24;  // FZ
#else
  static constexpr uint64_t kFlush = 0x8040;  // FTZ and DAZ
#endif
  const uint64_t saved_;
};

}  // namespace kheya

#endif  // KHEYA_BASE_DENORMALS_H_
