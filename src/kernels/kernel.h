// The contract of a fast kernel: a KernelCall says what is to be computed on which descriptions of
// memory; a KernelRow says whether it can (supports) and makes a PreparedKernel of it (prepare),
// which then runs any number of times, on any thread, without allocating.
//
//   for (const KernelRow* row : FindKernels(call)) {          // best first
//     auto kernel = row->prepare(call, {constants, &cache});
//     for (int64_t i = 0; i < kernel->slices(); ++i) kernel->Run({inputs, outputs, scratch, i});
//   }
//
// A kernel knows data, parameters and its state; never a graph or a request. It never throws.
#ifndef KHEYA_KERNELS_KERNEL_H_
#define KHEYA_KERNELS_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "kernels/call.h"
#include "kernels/pack_cache.h"
#include "tensor/tensor.h"

namespace kheya {

// Memory of one run of one slice. Pointers are aligned for their element type; null where the call
// has no such input, or where the input was a constant when the kernel was prepared and is packed.
struct KernelArgs {
  std::span<const std::byte* const> inputs;
  std::span<std::byte* const> outputs;
  std::byte* workspace = nullptr;  // workspace_bytes(), aligned to kAlignment
  int64_t slice = 0;
};

// Thread safety: Run is const; slices may run at once and in any order.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;

  // Into how many parts the work is cut: by the call alone, never by the number of threads.
  virtual int64_t slices() const { return 1; }
  // Scratch for all slices together.
  virtual size_t workspace_bytes() const { return 0; }
  // True when the memory of `input` may also be that of output 0.
  virtual bool CanRunInPlace([[maybe_unused]] int input) const { return false; }
  // True when Run reads the memory of a constant input; false when it was packed at Prepare.
  virtual bool ReadsConstant([[maybe_unused]] int input) const { return true; }
  virtual Status Run(const KernelArgs& args) const = 0;
};

struct PrepareContext {
  // By input: the tensor where it is constant and aligned, null where it comes at run time.
  std::span<const Tensor* const> constants;
  PackCache* cache = nullptr;

  const Tensor* constant(size_t input) const {
    return input < constants.size() ? constants[input] : nullptr;
  }
};

enum class Isa : uint8_t { kPortable, kOneDnn };

const char* IsaName(Isa isa);  // "portable", "onednn"

struct KernelRow {
  const char* family;
  const char* name;
  Isa isa;
  bool (*supports)(const KernelCall& call);
  // Fails only for lack of memory or inside a library; then the next row is tried.
  Result<std::shared_ptr<const PreparedKernel>> (*prepare)(const KernelCall& call,
                                                           const PrepareContext& context);
};

// "onednn:conv"
std::string TacticName(const KernelRow& row);

// The libraries behind the rows, with their versions: "onednn 2.6.3".
std::string KernelLibraries();

// All rows of kernels.inc in its order, which is the order of preference.
std::span<const KernelRow> AllKernels();

// The rows that support the call, best first.
std::vector<const KernelRow*> FindKernels(const KernelCall& call);

}  // namespace kheya

#endif  // KHEYA_KERNELS_KERNEL_H_
