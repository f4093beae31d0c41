#include "formats/onnx/onnx.h"

#include <filesystem>

#include "formats/onnx/importer.h"
#include "formats/onnx/proto.h"
#include "formats/onnx/tensor_reader.h"

namespace kheya {
namespace {

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

Result<Graph> ImportBytes(ByteSpan bytes, const onnx::TensorReader& tensors,
                          const ImportOptions& options, std::vector<std::string>* warnings) {
  KHEYA_ASSIGN_OR_RETURN(const onnx::ModelProto model, onnx::ParseModel(bytes));
  return onnx::Importer(model, tensors, options, warnings).Import();
}

}  // namespace

Result<Graph> ImportOnnx(const MappedFile& file, const ImportOptions& options,
                         std::vector<std::string>* warnings) {
  onnx::ExternalFiles external(FolderOf(file.path()), options.file);
  const onnx::TensorReader tensors(file.owner(), &external);
  return ImportBytes(file.bytes(), tensors, options, warnings)
      .WithContext("file '{}'", file.path());
}

Result<Graph> ImportOnnxBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                              const ImportOptions& options, std::vector<std::string>* warnings) {
  return ImportBytes(bytes, onnx::TensorReader(std::move(owner)), options, warnings);
}

}  // namespace kheya
