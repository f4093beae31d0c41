// How the models of ai.onnx.ml give their scores out.
#ifndef KHEYA_KERNELS_REFERENCE_SCORES_H_
#define KHEYA_KERNELS_REFERENCE_SCORES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kheya::kernels {

// Names as in the standard.
enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

// Each score by itself, or all of them together for the softmaxes; SOFTMAX_ZERO leaves scores of 0
// out.
void Transform(PostTransform transform, std::span<double> scores);
double Logistic(double score);

// Scores of two classes from the one that a binary classifier has: (1 - s, s) for shares, (-s, s)
// otherwise, or its logistic function.
std::array<double, 2> BothScores(PostTransform transform, bool shares, double score);

size_t IndexOfLargest(std::span<const double> scores);

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_SCORES_H_
