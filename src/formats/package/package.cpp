#include "formats/package/package.h"

#include <utility>

#include "formats/package/graph_io.h"

namespace kheya {
namespace {

std::string Context(const PackageFile& package) {
  return fmt::format("file '{}': a damaged package", package.file().path());
}

}  // namespace

Result<std::vector<PackageConstant>> ReadConstants(const PackageFile& package) {
  KHEYA_ASSIGN_OR_RETURN(const auto table, package.Checked(SectionKind::kConstants));
  const PackageSection* data = package.Find(SectionKind::kData);
  if (data == nullptr) return InvalidArgumentError("{}: it has no data", Context(package));
  auto constants = ReadPackageConstants(table, package.Bytes(*data), package.file().owner());
  if (!constants.ok()) return std::move(constants).status().WithContext("{}", Context(package));
  return constants;
}

Result<Graph> ReadSimplifiedGraph(const PackageFile& package,
                                  const std::vector<PackageConstant>& constants) {
  KHEYA_ASSIGN_OR_RETURN(const auto bytes, package.Checked(SectionKind::kGraph));
  for (const PackageConstant& constant : constants) {
    const Tensor& tensor = constant.tensor;
    if (tensor.dtype() == DType::kString || tensor.num_bytes() <= kConstantCheckedAtOnce) continue;
    if (HashBytes(tensor.bytes()) != constant.hash) {
      return InvalidArgumentError("{}: a constant {} was changed", Context(package),
                                  tensor.TypeString());
    }
  }
  Result<Graph> graph = ReadGraph(bytes, constants);
  if (!graph.ok()) return std::move(graph).status().WithContext("{}", Context(package));
  return graph;
}

Result<Graph> ImportPackage(const MappedFile& file, const ImportOptions&,
                            std::vector<std::string>*) {
  KHEYA_ASSIGN_OR_RETURN(const PackageFile package, PackageFile::Open(file));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<PackageConstant> constants, ReadConstants(package));
  return ReadSimplifiedGraph(package, constants);
}

}  // namespace kheya
