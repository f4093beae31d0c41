// How kernels cut their work: from shapes alone, so that results never depend on threads.
#ifndef KHEYA_KERNELS_SLICING_H_
#define KHEYA_KERNELS_SLICING_H_

#include <algorithm>
#include <cstdint>

namespace kheya {

// The half-open range of slice `index` when `count` items are cut into `slices` nearly equal ones.
struct SliceRange {
  int64_t begin = 0;
  int64_t end = 0;
};
inline SliceRange RangeOf(int64_t index, int64_t slices, int64_t count) {
  const int64_t base = count / slices;
  const int64_t rest = count % slices;
  const int64_t begin = index * base + std::min(index, rest);
  return {begin, begin + base + (index < rest ? 1 : 0)};
}

// Into how many slices to cut `work` units (operations or bytes) that come in `items` parts: none
// smaller than `least`, none when there is nothing to gain.
inline int64_t SlicesFor(double work, double least, int64_t items, int64_t most = 16) {
  const auto wanted = static_cast<int64_t>(std::min(work / least, 1e9));
  return std::max<int64_t>(1, std::min({wanted, items, most}));
}

// Work that hides the cost of handing a slice to another thread: about 50 microseconds.
inline constexpr double kLeastFlops = 16e6;
inline constexpr double kLeastBytes = 256 * 1024;

// The same for a slice that reads weights which other slices read too: reading them again must be
// small beside the work.
inline double LeastFlopsFor(double weight_bytes) {
  constexpr double kFlopsPerByte = 12;
  return std::max(kLeastFlops, kFlopsPerByte * weight_bytes);
}

}  // namespace kheya

#endif  // KHEYA_KERNELS_SLICING_H_
