// CompiledGraph: the CompiledModel over a graph, with one plan when its shapes are fixed and one
// for each set of input shapes when they are not.
#ifndef KHEYA_ENGINE_COMPILED_GRAPH_H_
#define KHEYA_ENGINE_COMPILED_GRAPH_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/package.h"
#include "engine/shape_plans.h"
#include "kernels/pack_cache.h"
#include "passes/pass.h"
#include "runtime/arena_pool.h"
#include "runtime/compile.h"

namespace kheya {

class CompiledGraph : public CompiledModel {
 public:
  // Where a model comes from and where it is kept.
  struct Storage {
    std::shared_ptr<const Package> package;  // that the model was read from; may be null
    std::string cache_file;                  // of the compiled model; empty: none
  };
  static Result<std::shared_ptr<CompiledModel>> Create(Model model, const CompileOptions& options,
                                                       Storage storage);
  // From the package's plans. Null, and why in `reason`, where it must be compiled again.
  static Result<std::shared_ptr<CompiledModel>> Open(const CompileOptions& options, Storage storage,
                                                     std::string* reason);

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
  Status SavePackage(const std::string& path) const override;
  std::optional<int64_t> Macs(const std::map<std::string, Shape>& input_shapes) const override;

 private:
  CompiledGraph(const CompileOptions& options, Storage storage);

  void StartTuner();
  Status Init(Model model);
  Status InitStored(const PlanRecord* plan);
  PassOptions Passes() const;
  // Lowers and compiles a simplified graph. `shapes`: those that it was specialized for.
  Result<std::shared_ptr<const Plan>> MakePlan(Graph graph, const PlanShapes& shapes,
                                               bool may_time);
  // The same from the package.
  Result<std::shared_ptr<const Plan>> MakeStoredPlan(const Graph& lowered);
  Result<std::shared_ptr<const Plan>> Compile(const Graph& lowered, Tuner* tuner, bool may_time);
  // ResourceExhausted unless the budget has room for a run of the plan.
  Status CheckRoom(const Plan& plan) const;
  void KeepChoices() const;
  // Writes the model into the cache, where it has a place there.
  void KeepCompiled();
  // The graph, read from the package when it is first needed.
  Result<const Graph*> SimplifiedGraph() const;
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
  std::shared_ptr<ArenaPool> arenas_;   // of all plans
  std::unique_ptr<Tuner> tuner_;        // null: fixed choices
  std::optional<int64_t> macs_;         // of the fixed shapes
  std::shared_ptr<Executor> executor_;  // for the fixed shapes; null when some are not fixed
  mutable std::mutex graph_mutex_;
  mutable std::unique_ptr<const Graph> graph_;  // simplified; null when the shapes are fixed
  Storage storage_;
  mutable std::mutex builder_mutex_;
  std::unique_ptr<PackageBuilder> builder_;  // null: nothing is kept
  std::unique_ptr<ShapePlans> plans_;
};

}  // namespace kheya

#endif  // KHEYA_ENGINE_COMPILED_GRAPH_H_
