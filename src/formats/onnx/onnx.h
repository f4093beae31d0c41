// ImportOnnx: an ONNX model file as a Graph in the canonical operator set. ExportOnnx: the way
// back.
//
//   KHEYA_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open("m.onnx"));
//   KHEYA_ASSIGN_OR_RETURN(Graph graph, ImportOnnx(file, ImportOptions(), &warnings));
//
// Weights are borrowed: tensors keep the mapping alive and are read when they are used, also those
// of external data, whose files must lie in the model's folder.
#ifndef KHEYA_FORMATS_ONNX_ONNX_H_
#define KHEYA_FORMATS_ONNX_ONNX_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/status.h"
#include "graph/graph.h"

namespace kheya {

struct ImportOptions {
  // How files are opened, also those of external data.
  MappedFile::Options file = {};
  // Initializers of these names that the file also lists as inputs become inputs, without their
  // value. The others are constants (Graph::default_inputs names them).
  std::set<std::string, std::less<>> overridden = {};
  // Keeps Graph::notes: doc strings and metadata of nodes, inputs, outputs and initializers, also
  // in subgraphs. Not of functions' nodes, nor of Constant nodes, which become initializers.
  bool keep_notes = false;
  // The paths of files of external data that were read; may be null.
  std::vector<std::string>* external_files = nullptr;
};

// Operators that nobody knows stay in the graph as they are, so that they can be listed:
// VerifyModel refuses them. Types are as declared; call InferTypes. What the file does oddly but
// clearly is put right with a line in `warnings` (may be null); InvalidArgument, Unimplemented or
// ResourceExhausted otherwise, naming the file, the node and the attribute.
Result<Graph> ImportOnnx(const MappedFile& file, const ImportOptions& options,
                         std::vector<std::string>* warnings);
// The same from memory, kept alive by `owner`; null: weights are copied. External data is refused.
Result<Graph> ImportOnnxBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                              const ImportOptions& options, std::vector<std::string>* warnings);

// The oldest operator set that ExportOnnx writes.
inline constexpr int kOldestExportOpset = 11;

struct ExportOptions {
  // Of ai.onnx, kOldestExportOpset to kCanonicalOpset. Other domains keep the version that the
  // graph's file declared.
  int opset = kCanonicalOpset;
  // Weights go to a file beside the model, PATH.data. Models over 2 GB always do this: a protobuf
  // message cannot be larger.
  bool external_data = false;
};

// Writes the graph as an ONNX model. Both files are written atomically, the data first, side by
// side where `path` leads to if it is a link (ResolveOutput). Types should be inferred
// (InferTypes): what is known of inner values is written too. Names of inputs, outputs, nodes and
// metadata stay, and so do notes (ImportOptions::keep_notes) of what is still in the graph; a value
// gets another name only where its own is taken. Constants that nothing uses are left out.
// Unimplemented, naming the node, for an operator that the opset does not have in this form, and
// for Kheya's own.
Status ExportOnnx(const Graph& graph, const std::string& path, const ExportOptions& options);
// The same into memory, without external data; ResourceExhausted over 2 GB.
Result<std::string> ExportOnnxBytes(const Graph& graph, const ExportOptions& options);

}  // namespace kheya

#endif  // KHEYA_FORMATS_ONNX_ONNX_H_
