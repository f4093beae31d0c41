// Regions of interest: pooling, aligned sampling, and choosing among overlapping boxes.
#ifndef KHEYA_KERNELS_REFERENCE_ROI_H_
#define KHEYA_KERNELS_REFERENCE_ROI_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya::kernels {

// Images x [batch, channels, height, width]; results y [regions, channels, pooled height, width].
struct RoiShape {
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t pooled_height = 1;
  int64_t pooled_width = 1;
};

struct RoiAlignParams {
  RoiShape shape;
  double scale = 1;        // from the regions' units to pixels
  int64_t samples = 0;     // along each side of a bin; 0: one a pixel
  bool half_pixel = true;  // pixel centres lie at .5; else regions are at least one pixel large
  bool maximum = false;    // of the four weighted neighbours of all samples, not their mean
};

// Bilinear samples over the bins of each region (x1, y1, x2, y2), whose image is batch[i]. A sample
// more than a pixel outside is 0. float32 or float64.
Status RoiAlign(const RoiAlignParams& params, const TensorView& x, const TensorView& regions,
                std::span<const int64_t> batch, const MutableTensorView& y);

// The maximum over the whole pixels of each bin of regions (image, x1, y1, x2, y2), scaled and
// rounded; 0 of an empty bin. Images are known to be there.
Status MaxRoiPool(const RoiShape& shape, double scale, const TensorView& x,
                  const TensorView& regions, const MutableTensorView& y);

struct NmsParams {
  int64_t most = 0;  // boxes of a class
  float iou_threshold = 0;
  float score_threshold = 0;
  bool has_score_threshold = false;
  bool center_box = false;  // boxes are (x, y, width, height), else two corners (y, x, y, x)
};

// The boxes to keep of one class of one image, best score first, ties by index: those whose score
// is over the threshold and whose intersection over union with no kept one is over iou_threshold.
std::vector<int64_t> SuppressNonMaximum(const NmsParams& params, std::span<const float> boxes,
                                        std::span<const float> scores);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_ROI_H_
