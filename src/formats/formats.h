// Import: a model file of any known format as a Graph.
//
//   KHEYA_ASSIGN_OR_RETURN(ImportedModel model, Import("m.onnx", ImportOptions()));
//
// A format is a row of the table in formats.cpp: a name, a look at the content, an importer. File
// names do not matter.
#ifndef KHEYA_FORMATS_FORMATS_H_
#define KHEYA_FORMATS_FORMATS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/onnx/onnx.h"
#include "graph/graph.h"

namespace kheya {

struct ImportedModel {
  std::string format;  // "onnx"
  uint64_t file_bytes = 0;
  Graph graph;
  std::vector<std::string> warnings;
  std::vector<std::string> external_files;  // that hold weights apart
};

// NotFound, PermissionDenied; InvalidArgument for a damaged file; Unimplemented for a format that
// is not supported, naming it; ResourceExhausted past a limit. All name the file.
Result<ImportedModel> Import(const std::string& path, const ImportOptions& options);

// What `content` looks like, supported or not: "ONNX", "HDF5", "ZIP", ...; "nothing known".
std::string SniffFormat(std::span<const std::byte> content);

}  // namespace kheya

#endif  // KHEYA_FORMATS_FORMATS_H_
