// What this processor can do, as far as the operating system lets programs use it.
#ifndef KHEYA_BASE_CPU_FEATURES_H_
#define KHEYA_BASE_CPU_FEATURES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kheya {

struct CpuFeatures {
  bool sse4_2 = false;
  bool avx = false;
  bool avx2 = false;
  bool fma = false;
  bool f16c = false;
  bool avx_vnni = false;
  bool avx512f = false;
  bool avx512bw = false;
  bool avx512dq = false;
  bool avx512vl = false;
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  bool amx_tile = false;
  bool amx_int8 = false;
  bool amx_bf16 = false;
  bool neon = false;

  std::string architecture;  // "x86-64", "arm64" or "other"
  std::string brand;         // what the processor calls itself; may be empty
  // Bytes; 0 when not known. L1 and L2 belong to one core.
  uint64_t l1_data_bytes = 0;
  uint64_t l2_bytes = 0;
  uint64_t l3_bytes = 0;

  // Every feature with its name, in a fixed order.
  std::vector<std::pair<const char*, bool>> Flags() const;
  // Equal on two machines exactly when compiled plans may move between them:
  // "x86-64+sse4_2+avx+...". Stable between releases.
  std::string Key() const;
};

// Measured once. Thread safety: all.
const CpuFeatures& GetCpuFeatures();

}  // namespace kheya

#endif  // KHEYA_BASE_CPU_FEATURES_H_
