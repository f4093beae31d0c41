// Packages without their hashes, which no input would get right: graphs, tables of constants and
// plans as bytes, and whole files.
#include <cstdint>
#include <string_view>

#include "formats/package/graph_io.h"
#include "formats/package/package_file.h"
#include "runtime/plan_io.h"

namespace {

// For graphs to name.
const std::vector<kheya::PackageConstant>& Constants() {
  static const auto* constants = new std::vector<kheya::PackageConstant>{
      {kheya::Tensor::Scalar(1.0f), {}},
      {kheya::Tensor::FromValues<int64_t>(kheya::Shape{2}, {1, 2}), {}}};
  return *constants;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  switch (data[0] % 4) {
    case 0:
      (void)kheya::ReadGraph(bytes, Constants());
      break;
    case 1:
      (void)kheya::ReadPackageConstants(bytes, bytes, std::make_shared<int>());
      break;
    case 2:
      if (const auto plans = kheya::ReadPlans(bytes); plans.ok()) {
        kheya::PackCache cache;
        (void)kheya::AddPacked(plans->packed, bytes, std::make_shared<int>(), &cache);
      }
      break;
    default:
      (void)kheya::PackageFile::Matches(bytes);
  }
  return 0;
}
