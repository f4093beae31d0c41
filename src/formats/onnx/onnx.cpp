#include "formats/onnx/onnx.h"

#include <filesystem>

#include "formats/onnx/downgrade.h"
#include "formats/onnx/exporter.h"
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

// The most bytes of a protobuf message.
constexpr uint64_t kMessageBytes = (uint64_t{1} << 31) - 1;

// Of all constants, also in subgraphs.
uint64_t WeightBytes(const Graph& graph) {
  uint64_t bytes = 0;
  for (ValueId id : graph.ValueIds()) {
    const Tensor* constant = graph.Constant(id);
    if (constant != nullptr) bytes += constant->num_bytes();
  }
  for (NodeId id : graph.NodeIds()) {
    for (const Graph* subgraph : graph.Subgraphs(id)) bytes += WeightBytes(*subgraph);
  }
  return bytes;
}

Status CheckOpset(int opset) {
  if (opset >= kOldestExportOpset && opset <= kCanonicalOpset) return OkStatus();
  return InvalidArgumentError("found opset {}, expected {} to {}", opset, kOldestExportOpset,
                              kCanonicalOpset);
}

Status CheckMessage(const ProtobufWriter& message) {
  if (message.size() <= kMessageBytes) return OkStatus();
  return ResourceExhaustedError("the model takes {} bytes, a message holds at most {}",
                                message.size(), kMessageBytes);
}

}  // namespace

Result<Graph> ImportOnnx(const MappedFile& file, const ImportOptions& options,
                         std::vector<std::string>* warnings) {
  onnx::ExternalFiles external(FolderOf(file.path()), options.file);
  const onnx::TensorReader tensors(file.owner(), &external);
  Result<Graph> graph =
      ImportBytes(file.bytes(), tensors, options, warnings).WithContext("file '{}'", file.path());
  if (options.external_files != nullptr) *options.external_files = external.Paths();
  return graph;
}

Result<Graph> ImportOnnxBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                              const ImportOptions& options, std::vector<std::string>* warnings) {
  return ImportBytes(bytes, onnx::TensorReader(std::move(owner)), options, warnings);
}

Status ExportOnnx(const Graph& graph, const std::string& path, const ExportOptions& options) {
  KHEYA_RETURN_IF_ERROR(CheckOpset(options.opset));
  // The weights lie beside the model, not beside a link to it.
  KHEYA_ASSIGN_OR_RETURN(const std::string target, ResolveOutput(path));
  KHEYA_ASSIGN_OR_RETURN(const Graph written, onnx::Downgrade(graph, options.opset));
  // What is not weights is small, but not nothing.
  constexpr uint64_t kMostInlineBytes = kMessageBytes - (uint64_t{64} << 20);
  const bool external = options.external_data || WeightBytes(written) > kMostInlineBytes;
  const std::string location = std::filesystem::path(target).filename().string() + ".data";
  onnx::ExternalData data(location);
  onnx::Exporter exporter(written, options.opset, external ? &data : nullptr);
  KHEYA_ASSIGN_OR_RETURN(const ProtobufWriter model, exporter.Export());
  KHEYA_RETURN_IF_ERROR(CheckMessage(model));
  if (!data.empty()) KHEYA_RETURN_IF_ERROR(WriteFileAtomic(target + ".data", data.pieces()));
  return WriteFileAtomic(target, model.pieces());
}

Result<std::string> ExportOnnxBytes(const Graph& graph, const ExportOptions& options) {
  KHEYA_RETURN_IF_ERROR(CheckOpset(options.opset));
  KHEYA_ASSIGN_OR_RETURN(const Graph written, onnx::Downgrade(graph, options.opset));
  onnx::Exporter exporter(written, options.opset, nullptr);
  KHEYA_ASSIGN_OR_RETURN(const ProtobufWriter model, exporter.Export());
  KHEYA_RETURN_IF_ERROR(CheckMessage(model));
  return model.bytes();
}

}  // namespace kheya
