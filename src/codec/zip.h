// Zip archives: reading entries out of a mapped file, and writing small ones uncompressed.
// PKWARE APPNOTE 6.3.9: stored and deflated entries, zip64; no encryption, no parts.
//
//   KHEYA_ASSIGN_OR_RETURN(ZipReader zip, ZipReader::Open(file.bytes(), ZipLimits()));
//   if (const ZipEntry* entry = zip.Find("x.npy")) {
//     KHEYA_ASSIGN_OR_RETURN(Buffer content, zip.Read(*entry));
//   }
#ifndef KHEYA_CODEC_ZIP_H_
#define KHEYA_CODEC_ZIP_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/allocator.h"
#include "base/status.h"

namespace kheya {

struct ZipLimits {
  size_t max_entries = 100000;
  uint64_t max_entry_bytes = uint64_t{16} << 30;  // decompressed
};

struct ZipEntry {
  std::string name;  // a relative path without "." and ".." parts; UTF-8
  bool deflated = false;
  uint32_t crc32 = 0;
  uint64_t size = 0;                      // decompressed, as the directory says
  std::span<const std::byte> compressed;  // into the archive
};

// Borrows the archive. Thread safety: const after Open.
class ZipReader {
 public:
  // Reads the directory and checks that every entry lies inside the archive, that none overlap,
  // that names are unique, safe paths and the same in both headers. InvalidArgument,
  // Unimplemented (encryption, other compressions) or ResourceExhausted, naming the entry.
  static Result<ZipReader> Open(std::span<const std::byte> archive, const ZipLimits& limits);

  const std::vector<ZipEntry>& entries() const { return entries_; }
  const ZipEntry* Find(std::string_view name) const;

  // The entry's content, size and CRC-32 checked.
  Result<Buffer> Read(const ZipEntry& entry,
                      const std::shared_ptr<MemoryBudget>& budget = nullptr) const;
  // The content in the archive itself when it is stored uncompressed; the CRC-32 is not checked.
  static std::optional<std::span<const std::byte>> Stored(const ZipEntry& entry);

 private:
  std::vector<ZipEntry> entries_;
  std::map<std::string, size_t, std::less<>> by_name_;
};

// True when the bytes begin as a zip archive does.
bool IsZip(std::span<const std::byte> bytes);

// Stores entries uncompressed. Names and sizes are the caller's: less than 4 GiB in all.
class ZipWriter {
 public:
  void Add(std::string_view name, std::span<const std::byte> content);
  // The archive; the writer is then empty.
  std::string Finish();

 private:
  std::string archive_;
  std::string directory_;
  uint16_t count_ = 0;
};

}  // namespace kheya

#endif  // KHEYA_CODEC_ZIP_H_
