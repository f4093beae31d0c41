#include "kernels/kernel.h"

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

}  // namespace

const char* IsaName(Isa isa) { return isa == Isa::kOneDnn ? "onednn" : "portable"; }

std::span<const KernelRow> AllKernels() { return kRows; }

std::vector<const KernelRow*> FindKernels(const KernelCall& call) {
  std::vector<const KernelRow*> rows;
  for (const KernelRow& row : kRows) {
    if (row.supports(call)) rows.push_back(&row);
  }
  return rows;
}

}  // namespace kheya
