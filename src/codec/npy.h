// Arrays of numpy: .npy files (versions 1 to 3) and .npz archives of them.
// Format: numpy/lib/format.py. Types are those of tensor/dtypes.inc that numpy has, in either byte
// order; objects, strings, dates and records are refused by name.
#ifndef KHEYA_CODEC_NPY_H_
#define KHEYA_CODEC_NPY_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/allocator.h"
#include "base/status.h"
#include "codec/zip.h"
#include "tensor/tensor.h"

namespace kheya {

// What the header of a .npy file says of the data behind it.
struct NpyHeader {
  DType dtype = DType::kUndefined;
  bool big_endian = false;
  bool fortran_order = false;  // the first axis is contiguous
  Shape shape;
  size_t data_offset = 0;  // bytes from the beginning of the file
};

// True when the bytes begin as a .npy file does.
bool IsNpy(std::span<const std::byte> bytes);

// `bytes` may end anywhere after the header.
Result<NpyHeader> ParseNpyHeader(std::span<const std::byte> bytes);

// An array of its own memory, row-major and in this machine's byte order whatever the file has.
// InvalidArgument when the file does not end exactly behind its data.
Result<Tensor> ReadNpy(std::span<const std::byte> bytes,
                       const std::shared_ptr<MemoryBudget>& budget = nullptr);

// Turns `raw` elements of the header's type into this machine's byte order, in place, and bools
// into 0 and 1. Not for Fortran order.
void FixNpyElements(const NpyHeader& header, std::span<std::byte> raw);

// A version 1.0 file. Unimplemented for types that numpy lacks.
Result<std::string> WriteNpy(const Tensor& tensor);

// Arrays in the order of the archive, names without ".npy". Other entries are refused.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
Result<NamedTensors> ReadNpz(std::span<const std::byte> archive,
                             const std::shared_ptr<MemoryBudget>& budget = nullptr,
                             const ZipLimits& limits = ZipLimits());
// Uncompressed, as numpy.savez does; less than 4 GiB in all.
Result<std::string> WriteNpz(const NamedTensors& tensors);

}  // namespace kheya

#endif  // KHEYA_CODEC_NPY_H_
