#include "passes/pipeline.h"

#include <algorithm>
#include <chrono>

#include "base/string_util.h"
#include "graph/verify.h"
#include "ops/infer.h"
#include "passes/absorb_batch_norm.h"
#include "passes/absorb_bias.h"
#include "passes/absorb_pad.h"
#include "passes/absorb_scale.h"
#include "passes/cleanup_shapes.h"
#include "passes/fold_constants.h"
#include "passes/gather_to_slice.h"
#include "passes/lower_attention.h"
#include "passes/lower_batch_norm.h"
#include "passes/lower_conv.h"
#include "passes/lower_matmul.h"
#include "passes/merge_common_subexpressions.h"
#include "passes/merge_reshapes.h"
#include "passes/merge_transposes.h"
#include "passes/recognize_gelu.h"
#include "passes/recognize_gelu_tanh.h"
#include "passes/recognize_hard_swish.h"
#include "passes/recognize_layer_norm.h"
#include "passes/recognize_mish.h"
#include "passes/recognize_rms_norm.h"
#include "passes/recognize_silu.h"
#include "passes/remove_dead_nodes.h"
#include "passes/remove_identities.h"
#include "passes/sink_transposes.h"

namespace kheya {
namespace {

// The order matters little, since rounds repeat; it saves rounds.
constexpr PassInfo kSimplify[] = {
    {"remove_dead_nodes", RemoveDeadNodes},   // less to look at
    {"fold_constants", FoldConstants},        // weights that are computed, known shapes
    {"cleanup_shapes", CleanupShapes},        // computed targets of Reshape
    {"remove_identities", RemoveIdentities},  // patterns need not look through them
    {"merge_reshapes", MergeReshapes},        // chains of Reshape, Flatten, Squeeze, Unsqueeze
    {"sink_transposes", SinkTransposes},      // so that they meet
    {"merge_transposes", MergeTransposes},    // chains of Transpose
    {"merge_common_subexpressions", MergeCommonSubexpressions},  // patterns see one of each
    {"recognize_silu", RecognizeSilu},                           // spelled-out forms
    {"recognize_hard_swish", RecognizeHardSwish},
    {"recognize_mish", RecognizeMish},
    {"recognize_gelu", RecognizeGelu},
    {"recognize_gelu_tanh", RecognizeGeluTanh},
    {"recognize_layer_norm", RecognizeLayerNorm},
    {"recognize_rms_norm", RecognizeRmsNorm},
    {"absorb_pad", AbsorbPad},  // into Conv and AveragePool, nearest first
    {"absorb_bias", AbsorbBias},
    {"absorb_scale", AbsorbScale},
    {"absorb_batch_norm", AbsorbBatchNorm},
};

constexpr PassInfo kLower[] = {
    {"lower_conv", LowerConv},             // bias, residual, activation behind Conv
    {"lower_attention", LowerAttention},   // before its products become FusedMatMul
    {"lower_matmul", LowerMatmul},         // the same behind MatMul and Gemm
    {"lower_batch_norm", LowerBatchNorm},  // what no Conv absorbed
    {"gather_to_slice", GatherToSlice},    // behind lower_attention, which reads Gathers
};

class Pipeline {
 public:
  Pipeline(Graph& graph, const PassOptions& options)
      : graph_(graph), options_(options), context_(options) {}

  Status Run(const std::vector<PassInfo>& passes) {
    KHEYA_RETURN_IF_ERROR(CheckDisabled());
    KHEYA_RETURN_IF_ERROR(InferTypes(graph_));
    for (int round = 0; round < kMaxRounds; ++round) {
      const int64_t before = context_.changes;
      for (const PassInfo& pass : passes) {
        if (IsDisabled(pass.name)) continue;
        KHEYA_RETURN_IF_ERROR(RunOne(pass).WithContext("pass {}", pass.name));
      }
      if (context_.changes == before) break;
    }
    return OkStatus();
  }

 private:
  bool IsDisabled(std::string_view name) const {
    return std::find(options_.disabled.begin(), options_.disabled.end(), name) !=
           options_.disabled.end();
  }

  Status CheckDisabled() const {
    const std::vector<std::string> names = PassNames();
    for (const std::string& name : options_.disabled) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      return InvalidArgumentError("found no pass '{}' to disable, expected one of {}",
                                  Abbreviate(name), Join(names, ", "));
    }
    return OkStatus();
  }

  Status RunOne(const PassInfo& pass) {
    const auto start = std::chrono::steady_clock::now();
    const int64_t before = context_.changes;
    context_.pass = pass.name;
    KHEYA_RETURN_IF_ERROR(RunOnGraph(graph_, pass));
    const int64_t changes = context_.changes - before;
    if (changes > 0) {
      KHEYA_RETURN_IF_ERROR(Verify(graph_));
      KHEYA_RETURN_IF_ERROR(InferTypes(graph_));
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    Record(pass.name, elapsed.count(), changes);
    return OkStatus();
  }

  Status RunOnGraph(Graph& graph, const PassInfo& pass) {
    KHEYA_RETURN_IF_ERROR(pass.run(graph, context_));
    for (NodeId id : graph.NodeIds()) {
      const int64_t before = context_.changes;
      for (Graph* subgraph : graph.Subgraphs(id))
        KHEYA_RETURN_IF_ERROR(RunOnGraph(*subgraph, pass));
      if (context_.changes != before) graph.RefreshCaptures(id);
    }
    return OkStatus();
  }

  void Record(const char* name, double seconds, int64_t changes) {
    if (options_.timings == nullptr) return;
    std::vector<PassTiming>& timings = *options_.timings;
    auto it = std::find_if(timings.begin(), timings.end(),
                           [&](const PassTiming& timing) { return timing.pass == name; });
    if (it == timings.end()) it = timings.insert(timings.end(), PassTiming{name, 0, 0});
    it->seconds += seconds;
    it->changes += changes;
  }

  Graph& graph_;
  const PassOptions& options_;
  PassContext context_;
};

std::vector<PassInfo> AllPasses() {
  std::vector<PassInfo> passes(std::begin(kSimplify), std::end(kSimplify));
  passes.insert(passes.end(), std::begin(kLower), std::end(kLower));
  return passes;
}

}  // namespace

std::span<const PassInfo> SimplifyPasses() { return kSimplify; }

std::span<const PassInfo> LowerPasses() { return kLower; }

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const PassInfo& pass : AllPasses()) names.emplace_back(pass.name);
  return names;
}

Status Simplify(Graph& graph, const SimplifyOptions& options) {
  return Pipeline(graph, options).Run({std::begin(kSimplify), std::end(kSimplify)});
}

Status Lower(Graph& graph, const LowerOptions& options) {
  return Pipeline(graph, options).Run({std::begin(kLower), std::end(kLower)});
}

Status RunPasses(Graph& graph, std::span<const std::string> names, const PassOptions& options) {
  const std::vector<PassInfo> all = AllPasses();
  std::vector<PassInfo> chosen;
  for (const std::string& name : names) {
    auto it = std::find_if(all.begin(), all.end(),
                           [&](const PassInfo& pass) { return pass.name == name; });
    if (it == all.end()) {
      return InvalidArgumentError("found no pass '{}', expected one of {}", Abbreviate(name),
                                  Join(PassNames(), ", "));
    }
    chosen.push_back(*it);
  }
  return Pipeline(graph, options).Run(chosen);
}

}  // namespace kheya
