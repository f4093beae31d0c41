#include <memory>
#include <vector>

#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"cond", types::kBool}};
constexpr ParamDef kOutputs[] = {{"outputs", types::kAny, '\0', Presence::kVariadic}};
constexpr AttributeDef kAttributes[] = {{"else_branch", AttributeKind::kGraph, true},
                                        {"then_branch", AttributeKind::kGraph, true}};

// The branch has no inputs and as many outputs as the node.
Status CheckBranch(const Graph* branch, const char* name, size_t num_outputs) {
  if (branch == nullptr) return InvalidArgumentError("found no graph '{}'", name);
  if (!branch->inputs().empty()) {
    return InvalidArgumentError("{}: found {} inputs, expected none", name,
                                branch->inputs().size());
  }
  if (branch->outputs().size() != num_outputs) {
    return InvalidArgumentError("{}: found {} outputs, expected {}", name, branch->outputs().size(),
                                num_outputs);
  }
  return OkStatus();
}

// What is true of a value that comes from either branch.
Result<ValueType> TypeOfEither(const ValueType& a, const ValueType& b) {
  if (std::optional<ValueType> common = CommonType(a, b)) return *std::move(common);
  return InvalidArgumentError("found type {} in the one branch and {} in the other", a.ToString(),
                              b.ToString());
}

// Types of the branches, which were inferred before their node.
Status Infer(InferContext& context) {
  const auto then_branch = context.attributes().GraphOrNull("then_branch");
  const auto else_branch = context.attributes().GraphOrNull("else_branch");
  const size_t count = context.node().outputs.size();
  KHEYA_RETURN_IF_ERROR(CheckBranch(then_branch.get(), "then_branch", count));
  KHEYA_RETURN_IF_ERROR(CheckBranch(else_branch.get(), "else_branch", count));
  for (size_t i = 0; i < count; ++i) {
    const ValueType& a = then_branch->value(then_branch->outputs()[i].value).type;
    const ValueType& b = else_branch->value(else_branch->outputs()[i].value).type;
    Result<ValueType> common = TypeOfEither(a, b).WithContext("output {}", i);
    KHEYA_ASSIGN_OR_RETURN(ValueType type, std::move(common));
    KHEYA_RETURN_IF_ERROR(context.SetOutputType(static_cast<int>(i), std::move(type)));
  }
  return OkStatus();
}

Status Evaluate(EvalContext& context) {
  const Tensor& condition = context.input(0);
  if (condition.num_elements() != 1) {
    return InvalidArgumentError("found a condition of type {}, expected one element",
                                condition.TypeString());
  }
  const char* name = condition.data<bool>()[0] ? "then_branch" : "else_branch";
  const std::shared_ptr<Graph> branch = context.attributes().GraphOrNull(name);
  KHEYA_RETURN_IF_ERROR(CheckBranch(branch.get(), name, context.node().outputs.size()));
  KHEYA_ASSIGN_OR_RETURN(std::vector<Value> outputs, context.RunSubgraph(*branch, {}));
  for (size_t i = 0; i < outputs.size(); ++i) {
    KHEYA_RETURN_IF_ERROR(context.SetOutput(static_cast<int>(i), std::move(outputs[i])));
  }
  return OkStatus();
}

}  // namespace

extern const OpDef kIfOp;
const OpDef kIfOp = {.domain = "",
                     .name = "If",
                     .category = "control flow",
                     .inputs = kInputs,
                     .outputs = kOutputs,
                     .attributes = kAttributes,
                     .infer = Infer,
                     .evaluate = Evaluate};

}  // namespace kheya
