#include "kernels/kernel.h"

#include <algorithm>
#include <array>

namespace kheya {

#define KHEYA_KERNEL(family, name, isa, supports, prepare)                      \
  bool supports(const KernelCall& call);                                        \
  Result<std::shared_ptr<const PreparedKernel>> prepare(const KernelCall& call, \
                                                        const PrepareContext& context);
#include "kernels/kernels.inc"
#undef KHEYA_KERNEL

namespace {

#define KHEYA_KERNEL(family, name, isa, supports, prepare) \
  KernelRow{#family, #name, Isa::isa, supports, prepare},
const std::vector<KernelRow> kRows = {
#include "kernels/kernels.inc"
};
#undef KHEYA_KERNEL

// Larger than any memory: kernels may count elements and bytes below it without overflow.
constexpr int64_t kMostElements = int64_t{1} << 48;

bool SizesAreSane(std::span<const TensorDesc> descs) {
  return std::all_of(descs.begin(), descs.end(), [](const TensorDesc& desc) {
    return desc.shape.num_elements() <= kMostElements;
  });
}

}  // namespace

const char* IsaName(Isa isa) { return isa == Isa::kOneDnn ? "onednn" : "portable"; }

std::string TacticName(const KernelRow& row) {
  return fmt::format("{}:{}", IsaName(row.isa), row.name);
}

#if KHEYA_ONEDNN
std::string OneDnnVersion();  // onednn/library.cpp
std::string KernelLibraries() { return "onednn " + OneDnnVersion(); }
#else
std::string KernelLibraries() { return "portable"; }
#endif

std::span<const KernelRow> AllKernels() { return kRows; }

std::vector<const KernelRow*> FindKernels(const KernelCall& call) {
  std::vector<const KernelRow*> rows;
  if (!SizesAreSane(call.inputs) || !SizesAreSane(call.outputs)) return rows;
  for (const KernelRow& row : kRows) {
    if (row.supports(call)) rows.push_back(&row);
  }
  return rows;
}

}  // namespace kheya
