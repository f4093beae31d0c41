#include "ops/text_memory.h"

#include <algorithm>
#include <string>

#include "base/checked_math.h"

namespace kheya {
namespace {

size_t LongestText(const Value& value) {
  size_t longest = 0;
  if (value.is_tensor() && value.tensor().dtype() == DType::kString) {
    for (const std::string& text : value.tensor().data<std::string>()) {
      longest = std::max(longest, text.size());
    }
  } else if (const Sequence* sequence = value.sequence()) {
    for (const Value& element : *sequence) longest = std::max(longest, LongestText(element));
  }
  return longest;
}

}  // namespace

Status CheckTextFits(const EvalContext& context, const Shape& shape) {
  uint64_t bytes = 0;
  for (int i = 0; i < context.num_inputs(); ++i) bytes += LongestText(context.input_value(i));
  if (!CheckedMul(bytes, static_cast<uint64_t>(shape.num_elements()), &bytes)) {
    return ResourceExhaustedError("found more text than memory can hold");
  }
  const Result<Reservation> room = Reservation::Take(context.budget(), bytes);
  if (room.ok()) return OkStatus();
  return Status(room.status()).WithContext("text of {} strings", shape.num_elements());
}

}  // namespace kheya
