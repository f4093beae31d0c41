#include "kernels/reference/unique.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "kernels/reference/elementwise.h"

namespace kheya::kernels {
namespace {

// -1, 0 or 1.
template <typename T>
int CompareElements(const T& a, const T& b) {
  if constexpr (kIsHalf<T>) {
    return CompareElements(static_cast<float>(a), static_cast<float>(b));
  } else {
    if (a < b) return -1;
    if (b < a) return 1;
    if constexpr (std::is_floating_point_v<T>) {
      const bool a_nan = std::isnan(a);
      const bool b_nan = std::isnan(b);
      if (a_nan != b_nan) return a_nan ? 1 : -1;
    }
    return 0;
  }
}

template <typename T>
class UniqueFinder {
 public:
  UniqueFinder(const ReduceRows& rows, const T* x) : rows_(rows), x_(x) {}

  UniquePlaces Run(bool sorted) const {
    std::vector<int64_t> order(static_cast<size_t>(rows_.count));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return Compare(a, b) < 0; });
    // Runs of equal slices; the first place of each is its first, as the sort is stable.
    std::vector<int64_t> run_of(order.size());
    UniquePlaces found;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || Compare(order[i - 1], order[i]) != 0) {
        found.first.push_back(order[i]);
        found.counts.push_back(0);
      }
      run_of[order[i]] = static_cast<int64_t>(found.first.size()) - 1;
      ++found.counts.back();
    }
    found.inverse = std::move(run_of);
    return sorted ? found : InOrderOfPlaces(found);
  }

 private:
  int Compare(int64_t a, int64_t b) const {
    for (int64_t outer = 0; outer < rows_.outer; ++outer) {
      const T* left = x_ + (outer * rows_.count + a) * rows_.inner;
      const T* right = x_ + (outer * rows_.count + b) * rows_.inner;
      for (int64_t i = 0; i < rows_.inner; ++i) {
        if (const int order = CompareElements(left[i], right[i]); order != 0) return order;
      }
    }
    return 0;
  }

  static UniquePlaces InOrderOfPlaces(const UniquePlaces& sorted) {
    std::vector<int64_t> runs(sorted.first.size());
    std::iota(runs.begin(), runs.end(), 0);
    std::ranges::sort(runs, {}, [&](int64_t run) { return sorted.first[run]; });
    std::vector<int64_t> new_index(runs.size());
    UniquePlaces found;
    for (int64_t run : runs) {
      new_index[run] = static_cast<int64_t>(found.first.size());
      found.first.push_back(sorted.first[run]);
      found.counts.push_back(sorted.counts[run]);
    }
    for (int64_t run : sorted.inverse) found.inverse.push_back(new_index[run]);
    return found;
  }

  const ReduceRows& rows_;
  const T* x_;
};

}  // namespace

Result<UniquePlaces> FindUnique(bool sorted, const ReduceRows& rows, const TensorView& x) {
  UniquePlaces found;
  if (x.dtype == DType::kString) {
    return UniqueFinder<std::string>(rows, static_cast<const std::string*>(x.data)).Run(sorted);
  }
  KHEYA_RETURN_IF_ERROR(CallWithNumericType(x.dtype, [&]<typename T>(const T&) {
    found = UniqueFinder<T>(rows, static_cast<const T*>(x.data)).Run(sorted);
  }));
  return found;
}

}  // namespace kheya::kernels
