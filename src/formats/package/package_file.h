// PackageFile: the container of a .kheya package, sections of bytes that begin at pages, each with
// a hash. What is in a section is the business of those who write and read it.
//
//   magic, version, page size, bytes of the file, number of sections, hash of all this and the
//   table table: kind, target, offset, bytes and hash of each section sections, in the table's
//   order
//
// Packages are data, never code, and do not change once written: they are mapped and used in place.
#ifndef KHEYA_FORMATS_PACKAGE_PACKAGE_FILE_H_
#define KHEYA_FORMATS_PACKAGE_PACKAGE_FILE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/status.h"

namespace kheya {

inline constexpr size_t kPackagePage = 4096;

enum class SectionKind : uint32_t {
  kModel = 1,      // what callers see of the model, options that it was made with
  kConstants = 2,  // the table of constants
  kData = 3,       // their bytes
  kGraph = 4,      // the simplified graph
  kPlans = 5,      // for one kind of machine: lowered graphs, choices, the table of packed weights
  kPacked = 6,     // for the same: packed weights
};

struct PackageSection {
  SectionKind kind = SectionKind::kModel;
  uint32_t target = 0;  // which kind of machine, for the kinds that have one
  uint64_t offset = 0;
  uint64_t bytes = 0;
  Hash128 hash;
};

class PackageFile {
 public:
  // Whether this is the beginning of a package.
  static bool Matches(std::span<const std::byte> content);

  // Checks header and table, reads no section. InvalidArgument naming the file when it is damaged,
  // cut or of another version.
  static Result<PackageFile> Open(MappedFile file);

  const MappedFile& file() const { return file_; }
  const std::vector<PackageSection>& sections() const { return sections_; }
  const PackageSection* Find(SectionKind kind, uint32_t target = 0) const;
  std::span<const std::byte> Bytes(const PackageSection& section) const;
  // The bytes after their hash was compared; InvalidArgument naming file and section when it
  // differs or there is no such section.
  Result<std::span<const std::byte>> Checked(SectionKind kind, uint32_t target = 0) const;
  // Every section against its hash.
  Status Verify() const;

 private:
  Status CheckSection(const PackageSection& section) const;
  Status Damaged(std::string_view what) const;

  MappedFile file_;
  std::vector<PackageSection> sections_;
};

const char* SectionName(SectionKind kind);  // "graph"

// A section to write, in pieces that follow each other.
struct SectionContent {
  SectionKind kind = SectionKind::kModel;
  uint32_t target = 0;
  std::vector<std::string_view> pieces;
};

// Atomic; `sync` as in WriteFileAtomic.
Status WritePackageFile(const std::string& path, std::span<const SectionContent> sections,
                        bool sync);

}  // namespace kheya

#endif  // KHEYA_FORMATS_PACKAGE_PACKAGE_FILE_H_
