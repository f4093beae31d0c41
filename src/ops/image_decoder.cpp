#include "kernels/reference/decode_image.h"
#include "ops/op.h"

namespace kheya {
namespace {

using kernels::PixelFormat;

constexpr ParamDef kInputs[] = {{"encoded_stream", MaskOf({DType::kUint8})}};
constexpr ParamDef kOutputs[] = {{"image", MaskOf({DType::kUint8})}};
constexpr AttributeDef kAttributes[] = {{"pixel_format", AttributeKind::kString}};

Result<PixelFormat> FormatOf(const AttributeReader& attributes) {
  const std::string name = attributes.String("pixel_format", "RGB");
  if (name == "RGB") return PixelFormat::kRgb;
  if (name == "BGR") return PixelFormat::kBgr;
  if (name == "Grayscale") return PixelFormat::kGrayscale;
  return InvalidArgumentError("found pixel_format '{}', expected RGB, BGR or Grayscale", name);
}

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const PixelFormat format, FormatOf(context.attributes()));
  if (const SymbolicShape* stream = context.input_shape(0); stream != nullptr) {
    if (stream->size() != 1) {
      return InvalidArgumentError("found a stream of shape {}, expected rank 1", ToString(*stream));
    }
  }
  const Dim channels = format == PixelFormat::kGrayscale ? 1 : 3;
  return context.SetOutput(0, DType::kUint8, SymbolicShape{Dim(), Dim(), channels});
}

Status Evaluate(EvalContext& context) {
  const Shape& stream = context.input(0).shape();
  if (stream.rank() != 1) {
    return InvalidArgumentError("found a stream of shape {}, expected rank 1", stream.ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(const PixelFormat format, FormatOf(context.attributes()));
  KHEYA_ASSIGN_OR_RETURN(Tensor image,
                         kernels::DecodeImage(context.input(0).bytes(), format, context.budget()));
  return context.SetOutput(0, std::move(image));
}

}  // namespace

extern const OpDef kImageDecoderOp;
const OpDef kImageDecoderOp = {.domain = "",
                               .name = "ImageDecoder",
                               .category = "pictures",
                               .inputs = kInputs,
                               .outputs = kOutputs,
                               .attributes = kAttributes,
                               .infer = Infer,
                               .evaluate = Evaluate};

}  // namespace kheya
