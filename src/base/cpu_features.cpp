#include "base/cpu_features.h"

#include <unistd.h>

#include <cstring>

#include "base/string_util.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace kheya {
namespace {

#if defined(__x86_64__)

struct Registers {
  unsigned int a = 0;
  unsigned int b = 0;
  unsigned int c = 0;
  unsigned int d = 0;
};

Registers Cpuid(unsigned int leaf, unsigned int subleaf) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);
  return r;
}

bool Bit(unsigned int word, int bit) { return (word >> bit & 1) != 0; }

// Register states that the operating system saves (XCR0).
uint64_t SavedStates(const Registers& leaf1) {
  if (!Bit(leaf1.c, 27)) return 0;
  unsigned int low = 0;
  unsigned int high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

std::string Brand() {
  char text[49] = {};
  for (unsigned int i = 0; i < 3; ++i) {
    const Registers r = Cpuid(0x80000002u + i, 0);
    std::memcpy(text + 16 * i, &r, sizeof(r));
  }
  return std::string(Trim(text));
}

// Bits as in Intel's "Architecture Instruction Set Extensions Programming Reference".
void Detect(CpuFeatures* f) {
  const Registers leaf1 = Cpuid(1, 0);
  const Registers leaf7 = Cpuid(7, 0);
  const Registers leaf7_1 = leaf7.a >= 1 ? Cpuid(7, 1) : Registers();
  const uint64_t states = SavedStates(leaf1);
  const bool ymm = (states & 0x6) == 0x6;
  const bool zmm = (states & 0xE6) == 0xE6;
  const bool tiles = (states & 0x60000) == 0x60000;
  f->architecture = "x86-64";
  f->brand = Brand();
  f->sse4_2 = Bit(leaf1.c, 20);
  f->avx = ymm && Bit(leaf1.c, 28);
  f->avx2 = f->avx && Bit(leaf7.b, 5);
  f->fma = f->avx && Bit(leaf1.c, 12);
  f->f16c = f->avx && Bit(leaf1.c, 29);
  f->avx_vnni = f->avx2 && Bit(leaf7_1.a, 4);
  f->avx512f = zmm && Bit(leaf7.b, 16);
  f->avx512bw = f->avx512f && Bit(leaf7.b, 30);
  f->avx512dq = f->avx512f && Bit(leaf7.b, 17);
  f->avx512vl = f->avx512f && Bit(leaf7.b, 31);
  f->avx512_vnni = f->avx512f && Bit(leaf7.c, 11);
  f->avx512_bf16 = f->avx512f && Bit(leaf7_1.a, 5);
  f->avx512_fp16 = f->avx512f && Bit(leaf7.d, 23);
  f->amx_tile = tiles && Bit(leaf7.d, 24);
  f->amx_int8 = f->amx_tile && Bit(leaf7.d, 25);
  f->amx_bf16 = f->amx_tile && Bit(leaf7.d, 22);
}

#elif defined(__aarch64__)

void Detect(CpuFeatures* f) {
  constexpr unsigned long kAsimd = 1ul << 1;
  f->architecture = "arm64";
  f->neon = (getauxval(AT_HWCAP) & kAsimd) != 0;
}

#else

void Detect(CpuFeatures* f) { f->architecture = "other"; }

#endif

uint64_t CacheBytes(int name) {
  const long bytes = sysconf(name);
  return bytes > 0 ? static_cast<uint64_t>(bytes) : 0;
}

}  // namespace

std::vector<std::pair<const char*, bool>> CpuFeatures::Flags() const {
  return {{"sse4_2", sse4_2},
          {"avx", avx},
          {"avx2", avx2},
          {"fma", fma},
          {"f16c", f16c},
          {"avx_vnni", avx_vnni},
          {"avx512f", avx512f},
          {"avx512bw", avx512bw},
          {"avx512dq", avx512dq},
          {"avx512vl", avx512vl},
          {"avx512_vnni", avx512_vnni},
          {"avx512_bf16", avx512_bf16},
          {"avx512_fp16", avx512_fp16},
          {"amx_tile", amx_tile},
          {"amx_int8", amx_int8},
          {"amx_bf16", amx_bf16},
          {"neon", neon}};
}

std::string CpuFeatures::Key() const {
  std::string key = architecture;
  for (const auto& [name, present] : Flags()) {
    if (present) key.append("+").append(name);
  }
  return key;
}

const CpuFeatures& GetCpuFeatures() {
  static const CpuFeatures features = [] {
    CpuFeatures f;
    Detect(&f);
#if defined(_SC_LEVEL1_DCACHE_SIZE)
    f.l1_data_bytes = CacheBytes(_SC_LEVEL1_DCACHE_SIZE);
    f.l2_bytes = CacheBytes(_SC_LEVEL2_CACHE_SIZE);
    f.l3_bytes = CacheBytes(_SC_LEVEL3_CACHE_SIZE);
#endif
    return f;
  }();
  return features;
}

}  // namespace kheya
