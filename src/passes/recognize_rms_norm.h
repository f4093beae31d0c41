// recognize_rms_norm: x / Sqrt(ReduceMean(x^2) + epsilon), over the last axes, and a Mul by a
// constant behind it become RMSNormalization.
#ifndef KHEYA_PASSES_RECOGNIZE_RMS_NORM_H_
#define KHEYA_PASSES_RECOGNIZE_RMS_NORM_H_

#include "passes/pass.h"

namespace kheya {

Status RecognizeRmsNorm(Graph& graph, PassContext& context);

}  // namespace kheya

#endif  // KHEYA_PASSES_RECOGNIZE_RMS_NORM_H_
