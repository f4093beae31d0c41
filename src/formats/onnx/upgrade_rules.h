// The rules of the table in upgrade.cpp: each rewrites one node of an older opset. What changed is
// in https://github.com/onnx/onnx/blob/main/docs/Changelog.md
#ifndef KHEYA_FORMATS_ONNX_UPGRADE_RULES_H_
#define KHEYA_FORMATS_ONNX_UPGRADE_RULES_H_

#include "base/status.h"
#include "formats/onnx/upgrade.h"

namespace kheya::onnx {

// Attributes that became inputs.
Status UpgradeAxes(Upgrade& upgrade);     // Squeeze, Unsqueeze and reductions
Status UpgradeClip(Upgrade& upgrade);     // min, max
Status UpgradeDft(Upgrade& upgrade);      // axis
Status UpgradePad(Upgrade& upgrade);      // pads, value
Status UpgradeReshape(Upgrade& upgrade);  // shape
Status UpgradeSlice(Upgrade& upgrade);    // starts, ends, axes
Status UpgradeSplit(Upgrade& upgrade);    // split; the number of parts must be said
Status UpgradeTopK(Upgrade& upgrade);     // k

// Broadcasting that was asked for by attributes `broadcast` and `axis`.
Status UpgradeBroadcast(Upgrade& upgrade);
Status UpgradeGemm(Upgrade& upgrade);
Status UpgradePRelu(Upgrade& upgrade);  // one slope for each channel

// Meanings that changed.
// Coerced its input to two dimensions at `axis` (default 1), now works along it.
Status UpgradeSoftmax(Upgrade& upgrade);  // LogSoftmax and Hardmax too
Status UpgradeBatchNormalization(Upgrade& upgrade);
Status UpgradeCast(Upgrade& upgrade);    // names of types
Status UpgradeConcat(Upgrade& upgrade);  // default axis
Status UpgradeDropout(Upgrade& upgrade);
Status UpgradeGridSample(Upgrade& upgrade);          // names of modes
Status UpgradeGroupNormalization(Upgrade& upgrade);  // scale and bias of groups, now of channels
Status UpgradeLpPool(Upgrade& upgrade);              // a power in floating point
Status UpgradePad1(Upgrade& upgrade);                // pads under another name
Status UpgradeRecurrent(Upgrade& upgrade);  // RNN, GRU, LSTM: a flag that outputs stand for now
Status UpgradeResize10(Upgrade& upgrade);   // no region of interest, asymmetric coordinates
Status UpgradeResize11(Upgrade& upgrade);   // empty scales beside sizes
Status UpgradeRoiAlign(Upgrade& upgrade);   // default coordinates
Status UpgradeScan8(Upgrade& upgrade);      // batches of sequences of their own lengths
Status UpgradeScatter(Upgrade& upgrade);    // now ScatterElements
Status UpgradeSelu(Upgrade& upgrade);       // shorter default constants
Status UpgradeSplit1(Upgrade& upgrade);     // the sizes of parts as a second input
Status UpgradeTile(Upgrade& upgrade);       // along one axis, once
Status UpgradeUpsample(Upgrade& upgrade);   // now Resize

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_UPGRADE_RULES_H_
