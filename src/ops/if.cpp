#include <memory>
#include <vector>

#include "ops/op.h"
#include "ops/subgraph.h"

namespace kheya {
namespace {

constexpr ParamDef kInputs[] = {{"cond", types::kBool}};
constexpr ParamDef kOutputs[] = {{"outputs", types::kAny, '\0', Presence::kVariadic}};
constexpr AttributeDef kAttributes[] = {{"else_branch", AttributeKind::kGraph, true},
                                        {"then_branch", AttributeKind::kGraph, true}};

// A branch has no inputs and as many outputs as the node.
Result<std::shared_ptr<Graph>> BranchOf(const AttributeReader& attributes, const char* name,
                                        size_t num_outputs) {
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<Graph> branch, SubgraphOf(attributes, name));
  KHEYA_RETURN_IF_ERROR(CheckSubgraph(*branch, name, 0, num_outputs));
  return branch;
}

// What is true of a value that comes from either branch.
Result<ValueType> TypeOfEither(const ValueType& a, const ValueType& b) {
  if (std::optional<ValueType> common = CommonType(a, b)) return *std::move(common);
  return InvalidArgumentError("found type {} in the one branch and {} in the other", a.ToString(),
                              b.ToString());
}

// Types of the branches, which were inferred before their node.
Status Infer(InferContext& context) {
  const size_t count = context.node().outputs.size();
  KHEYA_ASSIGN_OR_RETURN(const auto then_branch,
                         BranchOf(context.attributes(), "then_branch", count));
  KHEYA_ASSIGN_OR_RETURN(const auto else_branch,
                         BranchOf(context.attributes(), "else_branch", count));
  for (size_t i = 0; i < count; ++i) {
    const ValueType& a = OutputType(*then_branch, i);
    const ValueType& b = OutputType(*else_branch, i);
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
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<Graph> branch,
                         BranchOf(context.attributes(), name, context.node().outputs.size()));
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
