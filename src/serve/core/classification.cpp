#include "serve/core/classification.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "serve/core/dtype_switch.h"

namespace kheya {
namespace {

template <typename T>
bool Better(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  }
  return a > b;
}

template <typename T>
void ClassifyRow(std::span<const T> row, std::span<std::string> out,
                 const std::vector<std::string>& labels) {
  std::vector<size_t> order(row.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(out.size()),
                    order.end(), [&](size_t a, size_t b) {
                      if (Better(row[a], row[b])) return true;
                      return !Better(row[b], row[a]) && a < b;
                    });
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = fmt::format("{}:{}", row[order[i]], order[i]);
    if (order[i] < labels.size()) out[i] += ":" + labels[order[i]];
  }
}

}  // namespace

Result<Tensor> Classify(const Tensor& scores, int64_t count,
                        const std::vector<std::string>& labels) {
  const Shape& shape = scores.shape();
  if (count < 1) return InvalidArgumentError("found classification {}, expected 1 or more", count);
  if (shape.rank() == 0)
    return InvalidArgumentError("classification needs classes, found a scalar");
  const bool batched = shape.rank() > 1;
  const int64_t rows = batched ? shape[0] : 1;
  const int64_t classes = shape.Product(batched ? 1 : 0, shape.rank());
  const int64_t best = std::min(count, classes);
  KHEYA_ASSIGN_OR_RETURN(
      Tensor out, Tensor::Allocate(DType::kString, batched ? Shape{rows, best} : Shape{best}));
  const std::span<std::string> texts = out.mutable_data<std::string>();
  const Status status = SwitchNumeric(scores.dtype(), [&]<typename T>(T) {
    const std::span<const T> values = scores.data<T>();
    for (int64_t row = 0; row < rows; ++row) {
      ClassifyRow<T>(values.subspan(row * classes, classes), texts.subspan(row * best, best),
                     labels);
    }
    return OkStatus();
  });
  if (!status.ok()) return status;
  return out;
}

}  // namespace kheya
