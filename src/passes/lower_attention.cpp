#include "passes/lower_attention.h"

#include <cmath>
#include <limits>

#include "ops/contexts.h"
#include "passes/head_view.h"
#include "passes/lower_attention_ops.h"
#include "passes/match.h"

namespace kheya {
namespace {

// From this number on a score that it is added to is lost in it.
constexpr double kSwallows = -1e30;

// What stands between the first product and the softmax.
struct Term {
  ValueId added = {};      // added to the scores; or, where it is invalid:
  ValueId condition = {};  // the scores stay where it holds (or does not: `inverted`)
  bool inverted = false;
  double masked_score = 0;  // and become this where they do not
};

struct Match {
  NodeId product;  // of queries and keys
  double scale = 1;
  std::vector<Term> terms;  // the last one nearest to the product
  ValueId weights;          // what the second product reads
  bool zero_nan = false;    // its NaN were made 0
  NodeId context;           // the second product
};

class Matcher {
 public:
  Matcher(const Graph& graph, PassContext& context, const Node& softmax)
      : graph_(graph), context_(context), softmax_(softmax) {}

  std::optional<Match> Run() {
    if (!FindContext() || !FindProduct() || !CheckShapes()) return std::nullopt;
    return match_;
  }

 private:
  template <typename... Args>
  bool Miss(fmt::format_string<Args...> format, Args&&... args) {
    context_.Note(softmax_, format, std::forward<Args>(args)...);
    return false;
  }

  // From the softmax to the second product, by way of Where(IsNaN(p), 0, p).
  bool FindContext() {
    match_.weights = softmax_.outputs[0];
    const std::vector<Use>& uses = graph_.value(match_.weights).uses;
    if (uses.size() == 2 && !graph_.IsOutput(match_.weights)) {
      for (const Use& use : uses) {
        const Node& where = graph_.node(use.node);
        if (!IsOp(where, "Where") || use.index != 2) continue;
        const NodeId nan = ProducerOf(graph_, where.inputs[0], "IsNaN");
        if (!nan.valid() || graph_.node(nan).inputs[0] != match_.weights) continue;
        if (!IsScalar(graph_, where.inputs[1], 0)) continue;
        match_.weights = where.outputs[0];
        match_.zero_nan = true;
        break;
      }
    }
    const std::optional<Use> use = SoleUse(graph_, match_.weights);
    if (!use) {
      for (const Use& each : graph_.value(match_.weights).uses) {
        if (each.index == 0 && IsOp(graph_.node(each.node), "MatMul")) {
          return Miss("{}", WhyNotSole(graph_, match_.weights));
        }
      }
      return false;
    }
    match_.context = use->node;
    return use->index == 0 && IsOp(graph_.node(use->node), "MatMul");
  }

  // From the softmax's input back to the first product.
  bool FindProduct() {
    ValueId at = softmax_.inputs[0];
    while (true) {
      const GraphValue& value = graph_.value(at);
      if (value.origin != ValueOrigin::kNode || value.output_index != 0) return false;
      const Node& node = graph_.node(value.producer);
      if (!SoleUse(graph_, at)) {
        return LeadsToProduct(at) && Miss("{}", WhyNotSole(graph_, at));
      }
      if (IsOp(node, "MatMul")) {
        match_.product = value.producer;
        return true;
      }
      const std::optional<ValueId> next = Through(node);
      if (!next) return false;
      at = *next;
    }
  }

  bool IsBetween(const Node& node) const {
    return IsOp(node, "Add") || IsOp(node, "Where") || IsOp(node, "Mul") || IsOp(node, "Div");
  }

  // The value is a product, or something that keeps the shape of one.
  bool LeadsToProduct(ValueId value, int depth = 0) const {
    constexpr int kMostDepth = 6;
    const GraphValue& here = graph_.value(value);
    if (here.origin != ValueOrigin::kNode || here.output_index != 0) return false;
    const Node& node = graph_.node(here.producer);
    if (IsOp(node, "MatMul")) return true;
    if (depth == kMostDepth || !IsBetween(node)) return false;
    for (ValueId input : node.inputs) {
      if (SameShape(graph_, input, value) && LeadsToProduct(input, depth + 1)) return true;
    }
    return false;
  }

  // Takes the node into the match; the input that leads on to the product.
  std::optional<ValueId> Through(const Node& node) {
    if (!IsBetween(node)) return std::nullopt;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      if (!SameShape(graph_, input, node.outputs[0]) || !LeadsToProduct(input)) continue;
      const bool taken = IsOp(node, "Add")     ? TakeAdd(node.inputs[1 - i])
                         : IsOp(node, "Where") ? TakeWhere(node, i)
                                               : TakeScale(node, i);
      return taken ? std::optional(input) : std::nullopt;
    }
    return std::nullopt;
  }

  bool TakeAdd(ValueId added) {
    const SymbolicShape* shape = ShapeOf(graph_, added);
    if (match_.scale != 1) return Miss("'{}' is added before the scale", Name(added));
    if (shape == nullptr || shape->size() > 4 || DTypeOfValue(graph_, added) != DType::kFloat32) {
      return Miss("'{}' of type {} is added, expected float32 of rank 4 at most", Name(added),
                  graph_.value(added).type.ToString());
    }
    match_.terms.push_back({.added = added});
    return true;
  }

  bool TakeWhere(const Node& where, size_t index) {
    if (index == 0) return false;
    const ValueId other = where.inputs[3 - index];
    const std::optional<double> score = ConstantScalar(graph_, other);
    const SymbolicShape* shape = ShapeOf(graph_, where.inputs[0]);
    if (match_.scale != 1) return Miss("scores are replaced before the scale");
    if (!score) return Miss("scores are replaced by '{}', expected one constant", Name(other));
    if (shape == nullptr || shape->size() > 4) {
      return Miss("the condition '{}' is {}, expected rank 4 at most", Name(where.inputs[0]),
                  graph_.value(where.inputs[0]).type.ToString());
    }
    match_.terms.push_back(
        {.condition = where.inputs[0], .inverted = index == 2, .masked_score = *score});
    return true;
  }

  bool TakeScale(const Node& node, size_t index) {
    const bool div = node.op == "Div";
    const ValueId other = node.inputs[1 - index];
    const std::optional<double> factor = ConstantScalar(graph_, other);
    if ((div && index != 0) || !factor || *factor == 0) {
      return Miss("the scores are scaled by '{}', expected one constant", Name(other));
    }
    match_.scale = div ? match_.scale / *factor : match_.scale * *factor;
    return true;
  }

  bool CheckShapes() {
    const Node& first = graph_.node(match_.product);
    const Node& second = graph_.node(match_.context);
    const SymbolicShape* q = ShapeOf(graph_, first.inputs[0]);
    const SymbolicShape* k = ShapeOf(graph_, first.inputs[1]);
    const SymbolicShape* v = ShapeOf(graph_, second.inputs[1]);
    if (q == nullptr || k == nullptr || v == nullptr || q->size() != 4 || k->size() != 4 ||
        v->size() != 4) {
      return Miss("the operands of its products are not of rank 4");
    }
    for (size_t i = 0; i < 2; ++i) {
      if ((*q)[i] != (*k)[i] || (*q)[i] != (*v)[i]) {
        return Miss("queries {}, keys {} and values {} differ in batch or heads", ToString(*q),
                    ToString(*k), ToString(*v));
      }
    }
    if ((*k)[3] != (*v)[2]) {
      return Miss("the numbers of keys of {} and {} are not known to be the same", ToString(*k),
                  ToString(*v));
    }
    if (DTypeOfValue(graph_, softmax_.inputs[0]) != DType::kFloat32) {
      return Miss("it computes in {}, expected float32",
                  DTypeName(DTypeOfValue(graph_, softmax_.inputs[0])));
    }
    return true;
  }

  const std::string& Name(ValueId value) const { return graph_.value(value).name; }

  const Graph& graph_;
  PassContext& context_;
  const Node& softmax_;
  Match match_;
};

// Makes the fused node of a match.
class Builder {
 public:
  Builder(Graph& graph, const Match& match) : graph_(graph), match_(match), patch_(graph) {}

  Status Build(PassContext& context) {
    const Node& first = graph_.node(match_.product);
    const Node& second = graph_.node(match_.context);
    spec_ = {.op = "FusedAttention", .domain = kInternalDomain, .name = first.name};
    double scale = match_.scale;
    KHEYA_RETURN_IF_ERROR(AddOperand(first.inputs[0], false, &scale));
    KHEYA_RETURN_IF_ERROR(AddOperand(first.inputs[1], true, &scale));
    KHEYA_RETURN_IF_ERROR(AddOperand(second.inputs[1], false, nullptr));
    KHEYA_RETURN_IF_ERROR(AddMask());
    SetAttributes(second.inputs[1], static_cast<float>(scale));
    return Finish(context, second.outputs[0]);
  }

 private:
  // Scalings of the operand go into `scale` where there is one.
  Status AddOperand(ValueId value, bool swapped, double* scale) {
    std::optional<HeadView> view = FindHeadView(graph_, value, swapped, scale != nullptr);
    if (!view) {
      const std::vector<int64_t> perm = {0, 1, 3, 2};
      KHEYA_ASSIGN_OR_RETURN(
          const ValueId turned,
          Call({.op = "Transpose", .inputs = {value}, .attributes = {{"perm", perm}}}));
      view = HeadView{.value = turned};
    }
    if (scale != nullptr) *scale *= view->scale;
    KHEYA_ASSIGN_OR_RETURN(const ValueId operand, AddHeadView(patch_, graph_, *view));
    spec_.inputs.push_back(operand);
    offsets_.push_back(view->offset);
    columns_ = columns_ || view->columns;
    return OkStatus();
  }

  Result<ValueId> Call(NodeSpec spec) {
    spec.outputs = {"mask"};
    KHEYA_ASSIGN_OR_RETURN(const NodeId node, patch_.AddNode(std::move(spec)));
    return patch_.Output(node, 0);
  }

  // A condition alone selects; otherwise everything becomes one sum.
  Status AddMask() {
    const std::vector<Term>& terms = match_.terms;
    if (terms.empty()) return OkStatus();
    if (terms.size() == 1 && !terms[0].added.valid()) {
      ValueId condition = terms[0].condition;
      if (terms[0].inverted) {
        KHEYA_ASSIGN_OR_RETURN(condition, Call({.op = "Not", .inputs = {condition}}));
      }
      spec_.inputs.push_back(condition);
      spec_.attributes.push_back({"masked_score", static_cast<float>(terms[0].masked_score)});
      return OkStatus();
    }
    ValueId sum;
    for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
      ValueId added = term->added;
      if (!added.valid()) {
        const ValueId zero = patch_.AddConstant("zero", Tensor::Scalar(0.0f));
        const ValueId score = patch_.AddConstant(
            "masked_score", Tensor::Scalar(static_cast<float>(term->masked_score)));
        std::vector<ValueId> inputs = {term->condition, zero, score};
        if (term->inverted) std::swap(inputs[1], inputs[2]);
        KHEYA_ASSIGN_OR_RETURN(added, Call({.op = "Where", .inputs = std::move(inputs)}));
      }
      if (sum.valid()) {
        KHEYA_ASSIGN_OR_RETURN(sum, Call({.op = "Add", .inputs = {sum, added}}));
      } else {
        sum = added;
      }
    }
    spec_.inputs.push_back(sum);
    return OkStatus();
  }

  void SetAttributes(ValueId v, float scale) {
    if (columns_) {
      const Node& first = graph_.node(match_.product);
      const SymbolicShape& q = *ShapeOf(graph_, first.inputs[0]);
      spec_.attributes.push_back({"num_heads", q[1].value()});
      spec_.attributes.push_back({"qk_size", q[3].maybe().value_or(0)});
      spec_.attributes.push_back({"v_size", (*ShapeOf(graph_, v))[3].maybe().value_or(0)});
    }
    if (offsets_ != std::vector<int64_t>{0, 0, 0}) {
      spec_.attributes.push_back({"offsets", offsets_});
    }
    if (scale != 1) spec_.attributes.push_back({"scale", scale});
    if (match_.zero_nan) spec_.attributes.push_back({"undefined_rows", int64_t{2}});
  }

  // Replaces the answer, the transpose and reshape of heads into columns included.
  Status Finish(PassContext& context, ValueId last) {
    const std::optional<Use> use = SoleUse(graph_, last);
    const Node* turn = use ? &graph_.node(use->node) : nullptr;
    const std::vector<int64_t> perm = {0, 2, 1, 3};
    if (turn == nullptr || !IsOp(*turn, "Transpose") ||
        AttributeReader(*turn).Ints("perm") != perm) {
      return context.Replace(graph_, patch_, last, std::move(spec_));
    }
    spec_.attributes.push_back({"merge_heads", int64_t{1}});
    const ValueId turned = turn->outputs[0];
    const SymbolicShape& shape = *ShapeOf(graph_, turned);
    const std::optional<Use> next = SoleUse(graph_, turned);
    const Node* reshape = next ? &graph_.node(next->node) : nullptr;
    if (reshape != nullptr && IsOp(*reshape, "Reshape") && next->index == 0) {
      const SymbolicShape* merged = ShapeOf(graph_, reshape->outputs[0]);
      if (merged != nullptr && merged->size() == 3 && (*merged)[0] == shape[0] &&
          (*merged)[1] == shape[1]) {
        return context.Replace(graph_, patch_, reshape->outputs[0], std::move(spec_));
      }
    }
    if (!shape[2].known() || !shape[3].known()) {
      spec_.attributes.pop_back();
      return context.Replace(graph_, patch_, last, std::move(spec_));
    }
    KHEYA_ASSIGN_OR_RETURN(const ValueId answer, Call(std::move(spec_)));
    const ValueId target =
        patch_.AddConstant("heads", MakeInts({0, 0, shape[2].value(), shape[3].value()}));
    return context.Replace(graph_, patch_, turned, {.op = "Reshape", .inputs = {answer, target}});
  }

  Graph& graph_;
  const Match& match_;
  Patch patch_;
  NodeSpec spec_;
  std::vector<int64_t> offsets_;
  bool columns_ = false;
};

// A replaced score can only be a number to add where that number swallows the score.
bool CanAddTerms(const Match& match, PassContext& context, const Node& softmax) {
  if (match.terms.size() < 2) return true;
  for (const Term& term : match.terms) {
    if (term.added.valid() || term.masked_score <= kSwallows) continue;
    context.Note(softmax, "scores are replaced by {} and masked besides, expected {} or less",
                 term.masked_score, kSwallows);
    return false;
  }
  return true;
}

Status VisitSoftmax(Graph& graph, const Node& softmax, PassContext& context) {
  const SymbolicShape* shape = ShapeOf(graph, softmax.inputs[0]);
  const int64_t axis = AttributeReader(softmax).Int("axis", -1);
  if (shape == nullptr || (axis != -1 && axis != static_cast<int64_t>(shape->size()) - 1)) {
    return OkStatus();
  }
  const std::optional<Match> match = Matcher(graph, context, softmax).Run();
  if (!match || !CanAddTerms(*match, context, softmax)) return OkStatus();
  return Builder(graph, *match).Build(context);
}

Status Visit(Graph& graph, NodeId id, PassContext& context) {
  const Node& node = graph.node(id);
  if (IsOp(node, "Softmax")) return VisitSoftmax(graph, node, context);
  if (IsOp(node, "Attention")) return LowerOnnxAttention(graph, node, context);
  if (node.domain == "com.microsoft" && node.op == "MultiHeadAttention") {
    return LowerMultiHeadAttention(graph, node, context);
  }
  return OkStatus();
}

}  // namespace

Status LowerAttention(Graph& graph, PassContext& context) {
  return VisitNodesInOrder(graph, context, Visit);
}

}  // namespace kheya
