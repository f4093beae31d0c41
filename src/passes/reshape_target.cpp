#include "passes/reshape_target.h"

#include <algorithm>

namespace kheya {

std::optional<std::vector<int64_t>> ReshapeTarget(const SymbolicShape* from,
                                                  const SymbolicShape& to) {
  std::vector<int64_t> target;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i].known()) {
      target.push_back(to[i].value());
    } else {
      const bool kept = from != nullptr && i < from->size() && (*from)[i] == to[i];
      target.push_back(kept ? 0 : -1);
    }
  }
  const auto left_open = std::count(target.begin(), target.end(), -1);
  const auto zeros = std::count(target.begin(), target.end(), 0);
  const bool has_empty = std::any_of(
      to.begin(), to.end(), [](const Dim& dim) { return dim.known() && dim.value() == 0; });
  if (has_empty || left_open > 1 || (left_open == 1 && zeros > 0)) return std::nullopt;
  return target;
}

}  // namespace kheya
