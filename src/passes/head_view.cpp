#include "passes/head_view.h"

#include <algorithm>
#include <vector>

#include "ops/contexts.h"
#include "passes/match.h"

namespace kheya {
namespace {

// What an axis of the value at hand is to the operand; kPicked: one place of it was taken.
enum class Axis : uint8_t { kBatch, kHeads, kLength, kSize, kPicked };
struct Label {
  Axis axis = Axis::kPicked;
  int64_t index = 0;  // of kPicked
};

constexpr int kMostSteps = 16;

int64_t Normalized(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

class Tracer {
 public:
  Tracer(const Graph& graph, ValueId value, bool swapped, bool scales)
      : graph_(graph), scales_(scales) {
    at_.value = value;
    const SymbolicShape& shape = *ShapeOf(graph, value);
    heads_ = shape[1];
    size_ = shape[swapped ? 2 : 3];
    labels_ = {{Axis::kBatch}, {Axis::kHeads}, {Axis::kLength}, {Axis::kSize}};
    if (swapped) std::swap(labels_[2], labels_[3]);
  }

  std::optional<HeadView> Run() {
    for (int step = 0; step < kMostSteps; ++step) {
      Record();
      if (!Step()) break;
    }
    return best_;
  }

 private:
  const GraphValue& here() const { return graph_.value(at_.value); }

  // Keeps the value at hand when it can be an operand.
  void Record() {
    if (at_.columns || IsInOrder({Axis::kBatch, Axis::kHeads, Axis::kLength, Axis::kSize})) {
      best_ = at_;
      return;
    }
    const std::optional<int64_t> offset = ColumnOffset();
    if (!offset) return;
    const SymbolicShape& shape = *ShapeOf(graph_, at_.value);
    int64_t total = 1;
    for (size_t i = 2; i < shape.size(); ++i) {
      if (!shape[i].known()) return;
      total *= shape[i].value();
    }
    best_ = at_;
    best_->columns = true;
    best_->offset = *offset;
    best_->reshape_to = total;
  }

  bool IsInOrder(std::initializer_list<Axis> order) const {
    return std::equal(labels_.begin(), labels_.end(), order.begin(), order.end(),
                      [](const Label& label, Axis axis) { return label.axis == axis; });
  }

  // Of [batch, length, picked..., heads, size]: the first column.
  std::optional<int64_t> ColumnOffset() const {
    const size_t rank = labels_.size();
    const SymbolicShape* shape = ShapeOf(graph_, at_.value);
    if (at_.columns || rank < 4 || shape == nullptr || !heads_.known() || !size_.known()) {
      return std::nullopt;
    }
    if (labels_[0].axis != Axis::kBatch || labels_[1].axis != Axis::kLength ||
        labels_[rank - 2].axis != Axis::kHeads || labels_[rank - 1].axis != Axis::kSize) {
      return std::nullopt;
    }
    int64_t place = 0;
    for (size_t i = 2; i + 2 < rank; ++i) {
      if (labels_[i].axis != Axis::kPicked || !(*shape)[i].known()) return std::nullopt;
      place = place * (*shape)[i].value() + labels_[i].index;
    }
    return place * heads_.value() * size_.value();
  }

  // To the input of the node that made the value at hand; false where that is no view.
  bool Step() {
    if (here().origin != ValueOrigin::kNode) return false;
    const Node& node = graph_.node(here().producer);
    if (IsOp(node, "Split")) return StepSplit(node);
    if (here().output_index != 0) return false;
    if (IsOp(node, "Mul") || IsOp(node, "Div")) return scales_ && StepScale(node);
    if (at_.columns) return IsOp(node, "Slice") && StepSlice(node);
    if (IsOp(node, "Transpose")) return StepTranspose(node);
    if (IsOp(node, "Squeeze")) return StepSqueeze(node);
    if (IsOp(node, "Gather")) return StepGather(node);
    return IsOp(node, "Reshape") && StepReshape(node);
  }

  bool To(ValueId value) {
    at_.value = value;
    const SymbolicShape* shape = ShapeOf(graph_, value);
    return shape != nullptr && shape->size() == (at_.columns ? 3 : labels_.size());
  }

  bool StepScale(const Node& node) {
    const bool div = node.op == "Div";
    for (size_t i = 0; i < (div ? 1 : 2); ++i) {
      const auto factor = ConstantScalar(graph_, node.inputs[1 - i]);
      if (!factor || *factor == 0 || !SameShape(graph_, node.inputs[i], at_.value)) continue;
      at_.scale = div ? at_.scale / *factor : at_.scale * *factor;
      return To(node.inputs[i]);
    }
    return false;
  }

  bool StepTranspose(const Node& node) {
    const std::vector<int64_t> perm = AttributeReader(node).Ints("perm");
    if (perm.size() != labels_.size()) return false;
    std::vector<Label> inner(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) inner[perm[i]] = labels_[i];
    labels_ = std::move(inner);
    return To(node.inputs[0]);
  }

  bool StepSqueeze(const Node& node) {
    const auto axes = ConstantInts(graph_, InputOf(node, 1));
    if (!axes) return false;
    const size_t rank = labels_.size() + axes->size();
    std::vector<int64_t> sorted;
    for (int64_t axis : *axes) sorted.push_back(Normalized(axis, rank));
    std::sort(sorted.begin(), sorted.end());
    for (int64_t axis : sorted) labels_.insert(labels_.begin() + axis, Label{});
    return To(node.inputs[0]);
  }

  bool StepGather(const Node& node) {
    const Tensor* index = graph_.Constant(node.inputs[1]);
    const auto values = ConstantInts(graph_, node.inputs[1]);
    const SymbolicShape* shape = ShapeOf(graph_, node.inputs[0]);
    if (!values || values->size() != 1 || index->shape().rank() != 0 || shape == nullptr) {
      return false;
    }
    const int64_t axis = Normalized(AttributeReader(node).Int("axis", 0), shape->size());
    const Dim& dim = (*shape)[axis];
    if (!dim.known()) return false;
    const int64_t place = (*values)[0] < 0 ? (*values)[0] + dim.value() : (*values)[0];
    labels_.insert(labels_.begin() + axis, Label{Axis::kPicked, place});
    return To(node.inputs[0]);
  }

  // A part of the columns, or one place of an axis.
  bool StepSplit(const Node& node) {
    const SymbolicShape* shape = ShapeOf(graph_, at_.value);
    if (shape == nullptr) return false;
    const int64_t axis = Normalized(AttributeReader(node).Int("axis", 0), shape->size());
    int64_t before = 0;
    for (int i = 0; i < here().output_index; ++i) {
      const SymbolicShape* part = ShapeOf(graph_, node.outputs[i]);
      if (part == nullptr || !(*part)[axis].known()) return false;
      before += (*part)[axis].value();
    }
    if (at_.columns) {
      if (axis != 2) return false;
      at_.offset += before;
      return To(node.inputs[0]);
    }
    if (labels_[axis].axis != Axis::kPicked || (*shape)[axis] != Dim(1)) return false;
    labels_[axis].index = before;
    return To(node.inputs[0]);
  }

  bool StepSlice(const Node& node) {
    const auto starts = ConstantInts(graph_, node.inputs[1]);
    const auto axes = ConstantInts(graph_, InputOf(node, 3));
    const auto steps = ConstantInts(graph_, InputOf(node, 4));
    if (!starts || !axes || axes->size() != 1 || Normalized((*axes)[0], 3) != 2) return false;
    if (InputOf(node, 4).valid() && (!steps || (*steps)[0] != 1)) return false;
    const SymbolicShape* shape = ShapeOf(graph_, node.inputs[0]);
    if (shape == nullptr || shape->size() != 3 || !(*shape)[2].known()) return false;
    const int64_t columns = (*shape)[2].value();
    const int64_t start = (*starts)[0] < 0 ? (*starts)[0] + columns : (*starts)[0];
    at_.offset += std::clamp<int64_t>(start, 0, columns);
    return To(node.inputs[0]);
  }

  // [batch, length, columns] cut into heads.
  bool StepReshape(const Node& node) {
    const std::optional<int64_t> offset = ColumnOffset();
    const SymbolicShape* from = ShapeOf(graph_, node.inputs[0]);
    const SymbolicShape* to = ShapeOf(graph_, at_.value);
    if (!offset || from == nullptr || from->size() != 3) return false;
    if ((*from)[0] != (*to)[0] || (*from)[1] != (*to)[1]) return false;
    at_.columns = true;
    at_.offset = *offset;
    return To(node.inputs[0]);
  }

  const Graph& graph_;
  const bool scales_;
  HeadView at_;
  std::vector<Label> labels_;  // by axis of the value at hand, while it is not columns
  Dim heads_, size_;
  std::optional<HeadView> best_;
};

}  // namespace

std::optional<HeadView> FindHeadView(const Graph& graph, ValueId value, bool swapped, bool scales) {
  return Tracer(graph, value, swapped, scales).Run();
}

Result<ValueId> AddHeadView(Patch& patch, const Graph& graph, const HeadView& view) {
  if (view.reshape_to == 0) return view.value;
  const std::string& name = graph.value(view.value).name;
  const ValueId target = patch.AddConstant(name + "_target", MakeInts({0, 0, view.reshape_to}));
  KHEYA_ASSIGN_OR_RETURN(const NodeId node, patch.AddNode({.op = "Reshape",
                                                           .inputs = {view.value, target},
                                                           .outputs = {name + "_columns"}}));
  return patch.Output(node, 0);
}

}  // namespace kheya
