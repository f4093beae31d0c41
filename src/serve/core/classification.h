// The best classes of an output, as KServe's classification extension words them.
#ifndef KHEYA_SERVE_CORE_CLASSIFICATION_H_
#define KHEYA_SERVE_CORE_CLASSIFICATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya {

// For scores [classes] or [batch, ...], strings [k] or [batch, k] "value:index[:label]" with the
// highest value first, equal ones by index and NaN last; k is the smaller of `count` and the
// classes. `labels` may be shorter than the classes.
// InvalidArgument for a scalar, a count under 1, or scores that are not numbers.
Result<Tensor> Classify(const Tensor& scores, int64_t count,
                        const std::vector<std::string>& labels);

}  // namespace kheya

#endif  // KHEYA_SERVE_CORE_CLASSIFICATION_H_
