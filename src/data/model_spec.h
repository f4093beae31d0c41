// ModelSpec: what a model means, as data: how a picture becomes its input, what its output says.
// The schema, docs/model-spec.md; as JSON it travels in the model's metadata under kSpecKey.
#ifndef KHEYA_DATA_MODEL_SPEC_H_
#define KHEYA_DATA_MODEL_SPEC_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "tensor/dtype.h"

namespace kheya {

inline constexpr const char* kSpecKey = "kheya.spec";
inline constexpr int kSpecVersion = 1;

// Thread safety: a value.
struct ModelSpec {
  enum class Layout : uint8_t { kNchw, kNhwc };
  // kStretch: to the size; kCrop: the shorter side to the size, then the middle; kPad: the longer
  // side to the size, the rest black, the picture in the middle.
  enum class Resize : uint8_t { kStretch, kCrop, kPad };
  enum class Color : uint8_t { kRgb, kBgr, kGray };
  enum class Postprocess : uint8_t { kNone, kSoftmax };

  std::string input;  // the input that a picture goes to; empty: the model's first
  Layout layout = Layout::kNchw;
  int64_t height = 0;  // pixels; 0: as the picture has
  int64_t width = 0;
  Resize resize = Resize::kStretch;
  Color color = Color::kRgb;
  // A pixel v of 0 to 255 becomes (v * scale - mean) / std, by channel in the order of `color`.
  double scale = 1.0;
  std::vector<double> mean = {};  // empty: 0; else one, or one a channel
  std::vector<double> std = {};   // empty: 1
  DType dtype = DType::kFloat32;  // float32 or uint8
  int64_t batch_axis = 0;
  std::vector<std::string> labels = {};  // by class index
  Postprocess postprocess = Postprocess::kNone;

  int64_t channels() const { return color == Color::kGray ? 1 : 3; }
  bool has_picture() const { return height > 0 && width > 0; }

  // InvalidArgument with the key, what was found and what was expected; unknown keys are refused
  // with the list of known ones.
  static Result<ModelSpec> Parse(std::string_view json);
  static Result<ModelSpec> FromJson(const Json& json);
  Json ToJson() const;
  // The spec in a model's metadata; the default when it has none.
  static Result<ModelSpec> FromMetadata(
      const std::vector<std::pair<std::string, std::string>>& metadata);
};

}  // namespace kheya

#endif  // KHEYA_DATA_MODEL_SPEC_H_
