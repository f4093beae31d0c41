// Packages as models: their graph, as any other format gives it.
#ifndef KHEYA_FORMATS_PACKAGE_PACKAGE_H_
#define KHEYA_FORMATS_PACKAGE_PACKAGE_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "formats/onnx/onnx.h"
#include "formats/package/constants.h"
#include "formats/package/package_file.h"
#include "graph/graph.h"

namespace kheya {

// The constants of a package, in the order of its table; large ones are not compared yet.
Result<std::vector<PackageConstant>> ReadConstants(const PackageFile& package);

// The simplified graph, with every byte of its constants compared.
Result<Graph> ReadSimplifiedGraph(const PackageFile& package,
                                  const std::vector<PackageConstant>& constants);

// For the table of formats. Every input that has no default is an input: options' `overridden` asks
// for nothing here.
Result<Graph> ImportPackage(const MappedFile& file, const ImportOptions& options,
                            std::vector<std::string>* warnings);

}  // namespace kheya

#endif  // KHEYA_FORMATS_PACKAGE_PACKAGE_H_
