// StepContext: the EvalContext of one step over a run's frame.
#ifndef KHEYA_RUNTIME_STEP_CONTEXT_H_
#define KHEYA_RUNTIME_STEP_CONTEXT_H_

#include <memory>
#include <span>
#include <vector>

#include "ops/contexts.h"
#include "runtime/frame.h"
#include "runtime/plan.h"
#include "runtime/run_context.h"

namespace kheya {

class StepContext : public EvalContext {
 public:
  StepContext(Frame& frame, const Step& step, const RunContext& run)
      : frame_(frame), step_(step), run_(run) {}

  const Node& node() const override { return *step_.node; }
  int num_inputs() const override { return static_cast<int>(step_.inputs.size()); }
  const Value& input_value(int index) const override;
  Result<MutableTensorView> Output(int index, DType dtype, const Shape& shape) override;
  Status SetOutput(int index, Value value) override;
  Result<std::vector<Value>> RunSubgraph(const Graph& graph,
                                         std::span<const Value> inputs) override;
  const std::shared_ptr<MemoryBudget>& budget() const override { return frame_.budget(); }
  Status CheckAlive() const override { return run_.CheckAlive(); }
  uint64_t seed() const override;

 private:
  Frame& frame_;
  const Step& step_;
  const RunContext& run_;
  uint64_t subgraph_runs_ = 0;
  std::vector<Tensor> scratch_;  // memory of outputs that nobody asked for
};

}  // namespace kheya

#endif  // KHEYA_RUNTIME_STEP_CONTEXT_H_
