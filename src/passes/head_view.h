// HeadView: where the heads of an attention's operand lie in memory before the reshapes,
// transposes, slices and scalings that only bring them into the form of a matrix product.
#ifndef KHEYA_PASSES_HEAD_VIEW_H_
#define KHEYA_PASSES_HEAD_VIEW_H_

#include <cstdint>
#include <optional>

#include "base/status.h"
#include "graph/graph.h"
#include "graph/patch.h"

namespace kheya {

struct HeadView {
  ValueId value;
  // [batch, length, columns], the heads' columns from `offset` on; else [batch, heads, length,
  // size].
  bool columns = false;
  int64_t offset = 0;
  int64_t reshape_to = 0;  // not 0: `value` becomes columns by reshaping its axes from 2 on to this
  double scale = 1;        // what the value is still to be multiplied by
};

// The deepest view behind `value`, which is [batch, heads, length, size], or [batch, heads, size,
// length] where `swapped`. Looks through scalings where `scales`. nullopt when nothing makes a
// swapped one anything but swapped.
std::optional<HeadView> FindHeadView(const Graph& graph, ValueId value, bool swapped, bool scales);

// The value of the view as an input of a kheya.FusedAttention.
Result<ValueId> AddHeadView(Patch& patch, const Graph& graph, const HeadView& view);

}  // namespace kheya

#endif  // KHEYA_PASSES_HEAD_VIEW_H_
