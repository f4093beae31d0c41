// CompiledGraph: the CompiledModel over a graph, with one plan when its shapes are fixed and one
// for each set of input shapes when they are not.
#ifndef KHEYA_ENGINE_COMPILED_GRAPH_H_
#define KHEYA_ENGINE_COMPILED_GRAPH_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/shape_plans.h"
#include "kernels/pack_cache.h"
#include "passes/pass.h"
#include "runtime/compile.h"

namespace kheya {

class CompiledGraph : public CompiledModel {
 public:
  static Result<std::shared_ptr<CompiledModel>> Create(Model model, const CompileOptions& options);

  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const override {
    return metadata_;
  }
  const std::string& name() const override { return name_; }
  Status Run(RunContext& context, std::span<const Value> inputs, std::span<Value> outputs) override;
  Status Prepare(const std::map<std::string, Shape>& input_shapes) override;
  uint64_t weight_bytes() const override;
  uint64_t arena_bytes() const override;
  std::string Describe() const override;
  Result<std::vector<StepInfo>> Steps(const std::map<std::string, Shape>& input_shapes) override;
  std::optional<int64_t> Macs(const std::map<std::string, Shape>& input_shapes) const override;

 private:
  explicit CompiledGraph(const CompileOptions& options);

  Status Init(Model model);
  PassOptions Passes() const;
  // Lowers and compiles a simplified graph.
  Result<std::shared_ptr<const Plan>> MakePlan(Graph graph, bool may_time);
  void KeepChoices() const;
  Result<std::shared_ptr<Executor>> MakeExecutor(const std::map<std::string, Shape>& shapes,
                                                 bool may_time);
  // The one plan, or that of these shapes, made where it is missing.
  Result<std::shared_ptr<Executor>> ExecutorOf(const std::map<std::string, Shape>& input_shapes);
  Result<std::shared_ptr<Executor>> ExecutorFor(std::span<const Value> inputs);
  Status CheckInputs(std::span<const Value> inputs) const;
  Status CheckOutputs(std::span<const Value> outputs) const;
  std::vector<std::shared_ptr<Executor>> Executors() const;

  CompileOptions options_;
  CompilePlanOptions plan_options_;  // of every plan
  std::string name_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  std::vector<ValueType> output_kinds_;
  std::vector<std::pair<std::string, std::string>> metadata_;
  std::shared_ptr<PackCache> cache_;
  std::unique_ptr<Tuner> tuner_;        // null: fixed choices
  std::optional<int64_t> macs_;         // of the fixed shapes
  std::shared_ptr<Executor> executor_;  // for the fixed shapes; null when some are not fixed
  std::unique_ptr<const Graph> graph_;  // simplified; null when the shapes are fixed
  std::unique_ptr<ShapePlans> plans_;
};

}  // namespace kheya

#endif  // KHEYA_ENGINE_COMPILED_GRAPH_H_
