// CompilePlan: chooses layouts and tactics, packs weights, places every value.
#ifndef KHEYA_RUNTIME_COMPILE_H_
#define KHEYA_RUNTIME_COMPILE_H_

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "kernels/pack_cache.h"
#include "runtime/plan.h"
#include "runtime/tuner.h"

namespace kheya {

enum class Tactics : uint8_t {
  kAuto,       // the first kernel of the table that applies, else the reference
  kPortable,   // the same without library kernels
  kReference,  // the operators' evaluate alone
};

struct CompilePlanOptions {
  Tactics tactics = Tactics::kAuto;
  // A row of kernels.inc ("portable:winograd2") that goes before the others wherever it can.
  std::string forced = {};
  // Chooses by measuring where several rows support a call; null: the first is taken. Not used
  // where a row is forced or tactics are not kAuto.
  Tuner* tuner = nullptr;
  // Times every kernel that supports a step, for Step::compared.
  bool compare = false;
  bool may_time = true;  // else the tuner only gives what it knows
  // Packed weights are shared through it; it must outlive no one, plans hold what they use.
  PackCache* cache = nullptr;
  // Lines about choices, for people; may be null.
  std::vector<std::string>* notes = nullptr;
};

// The graph must be verified, with types inferred; it may be of any known shapes or not. Values of
// unknown shape are made at run time by the operators' evaluate. Unimplemented names an operator
// that is not known; ResourceExhausted when weights or arena do not fit.
Result<std::shared_ptr<const Plan>> CompilePlan(const Graph& graph,
                                                const CompilePlanOptions& options);

}  // namespace kheya

#endif  // KHEYA_RUNTIME_COMPILE_H_
