// Zip archives and the compressed data in them.
#include <cstdint>
#include <memory>
#include <span>

#include "codec/inflate.h"
#include "codec/zip.h"

namespace {

kheya::Status Digest(std::span<const std::byte> bytes) {
  const auto budget = std::make_shared<kheya::MemoryBudget>("fuzz", 64 << 20);
  for (const auto form : {kheya::DeflateForm::kRaw, kheya::DeflateForm::kGzip}) {
    (void)kheya::Inflate(bytes, form, 1 << 20, budget);
  }
  KHEYA_ASSIGN_OR_RETURN(const kheya::ZipReader zip,
                         kheya::ZipReader::Open(bytes, kheya::ZipLimits()));
  for (const kheya::ZipEntry& entry : zip.entries()) (void)zip.Read(entry, budget);
  return kheya::OkStatus();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)Digest({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
