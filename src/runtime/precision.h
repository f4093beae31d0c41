// ChooseTypes: which steps of a plan compute in bfloat16, and which float32 values lie in memory as
// bfloat16 between them (docs/decisions/0011).
//
// A convolution or matrix product computes in bfloat16 where a kernel does and where its answer on
// sample inputs, with its own weights, stays within the tolerance. What lies between such steps is
// bfloat16 where its producer can write it and some reader can read it: for the whole graph, so
// that no value is converted back and forth.
#ifndef KHEYA_RUNTIME_PRECISION_H_
#define KHEYA_RUNTIME_PRECISION_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "runtime/compile.h"
#include "runtime/node_call.h"

namespace kheya {

class TypePlan {
 public:
  // Everything stays float32.
  TypePlan() = default;

  // A convolution or product that computes in bfloat16.
  bool Computes(NodeId id) const {
    return static_cast<size_t>(id.index) < computes_.size() && computes_[id.index];
  }
  // How a float32 value is to lie in memory; a wish, since a step may have no kernel for it.
  DType TypeOf(ValueId id) const {
    const bool narrow = static_cast<size_t>(id.index) < narrow_.size() && narrow_[id.index];
    return narrow ? DType::kBFloat16 : DType::kFloat32;
  }

 private:
  friend class TypeChooser;
  std::vector<bool> computes_;  // by node
  std::vector<bool> narrow_;    // by value
  // What was packed to choose types is found again by the cache while this lives.
  std::vector<std::shared_ptr<const PreparedKernel>> held_;
};

// Float32 alone unless options.precision asks for more and this processor has it; otherwise a note
// says so. ResourceExhausted where weights do not fit.
Result<TypePlan> ChooseTypes(const Graph& graph, const CompilePlanOptions& options);

// This processor has instructions for it.
bool CanComputeBf16();

// The call with every float32 operand that is not constant in bfloat16, save an input whose small
// differences count much.
KernelCall Narrowed(const NodeCall& node_call, const Graph& graph);

}  // namespace kheya

#endif  // KHEYA_RUNTIME_PRECISION_H_
