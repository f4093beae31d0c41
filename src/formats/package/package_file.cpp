#include "formats/package/package_file.h"

#include <algorithm>
#include <utility>

#include "base/byte_stream.h"

namespace kheya {
namespace {

constexpr std::string_view kMagic("\x89kheya\r\n", 8);
constexpr uint32_t kFormatVersion = 1;
constexpr uint64_t kMostSections = 1024;
constexpr size_t kTableEntryBytes = 40;
// Magic, version, page size, bytes of the file, number of sections.
constexpr size_t kHeaderBytes = 32;
constexpr size_t kHashBytes = 16;

uint64_t UpToPage(uint64_t bytes) {
  return (bytes + kPackagePage - 1) / kPackagePage * kPackagePage;
}

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void PutSection(const PackageSection& section, ByteWriter* writer) {
  writer->Put(static_cast<uint32_t>(section.kind));
  writer->Put(section.target);
  writer->Put(section.offset);
  writer->Put(section.bytes);
  writer->PutHash(section.hash);
}

// Zeros up to the next page.
std::string_view Padding(uint64_t bytes) {
  static const std::string zeros(kPackagePage, '\0');
  return std::string_view(zeros).substr(0, UpToPage(bytes) - bytes);
}

}  // namespace

const char* SectionName(SectionKind kind) {
  switch (kind) {
    case SectionKind::kModel:
      return "model";
    case SectionKind::kConstants:
      return "constants";
    case SectionKind::kData:
      return "data";
    case SectionKind::kGraph:
      return "graph";
    case SectionKind::kPlans:
      return "plans";
    case SectionKind::kPacked:
      return "packed";
  }
  return "unknown";
}

bool PackageFile::Matches(std::span<const std::byte> content) {
  return AsText(content).starts_with(kMagic);
}

Status PackageFile::Damaged(std::string_view what) const {
  return InvalidArgumentError("file '{}': a damaged package: {}", file_.path(), what);
}

Result<PackageFile> PackageFile::Open(MappedFile file) {
  PackageFile package;
  package.file_ = std::move(file);
  const std::span<const std::byte> bytes = package.file_.bytes();
  if (!Matches(bytes)) return package.Damaged("it does not begin as a package");
  ByteReader reader(bytes.subspan(kMagic.size()));
  const auto version = reader.Get<uint32_t>();
  const auto page = reader.Get<uint32_t>();
  const auto size = reader.Get<uint64_t>();
  const auto count = reader.Get<uint64_t>();
  const Hash128 hash = reader.GetHash();
  if (!reader.ok()) return package.Damaged("its header is cut");
  if (version != kFormatVersion) {
    return UnimplementedError("file '{}': found a package of version {}, expected {}",
                              package.file_.path(), version, kFormatVersion);
  }
  if (size != bytes.size()) {
    return package.Damaged(fmt::format("found {} bytes, expected {}", bytes.size(), size));
  }
  if (page != kPackagePage || count > kMostSections) return package.Damaged("its header is wrong");
  const size_t table = kHeaderBytes + kHashBytes;
  if (bytes.size() - table < count * kTableEntryBytes) return package.Damaged("its table is cut");
  const std::string_view hashed[] = {
      AsText(bytes.first(kHeaderBytes)),
      AsText(bytes.subspan(table, static_cast<size_t>(count) * kTableEntryBytes))};
  if (HashPieces(hashed) != hash) return package.Damaged("its header or table was changed");
  uint64_t end = table + count * kTableEntryBytes;
  for (uint64_t i = 0; i < count; ++i) {
    PackageSection section;
    section.kind = static_cast<SectionKind>(reader.Get<uint32_t>());
    section.target = reader.Get<uint32_t>();
    section.offset = reader.Get<uint64_t>();
    section.bytes = reader.Get<uint64_t>();
    section.hash = reader.GetHash();
    if (section.offset != UpToPage(end) || section.offset > size ||
        section.bytes > size - section.offset) {
      return package.Damaged("its table is wrong");
    }
    end = section.offset + section.bytes;
    package.sections_.push_back(section);
  }
  return package;
}

const PackageSection* PackageFile::Find(SectionKind kind, uint32_t target) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(), [&](const auto& section) {
    return section.kind == kind && section.target == target;
  });
  return found == sections_.end() ? nullptr : &*found;
}

std::span<const std::byte> PackageFile::Bytes(const PackageSection& section) const {
  return file_.bytes().subspan(section.offset, section.bytes);
}

Status PackageFile::CheckSection(const PackageSection& section) const {
  if (HashBytes(Bytes(section)) == section.hash) return OkStatus();
  return Damaged(
      fmt::format("section {} {} was changed", SectionName(section.kind), section.target));
}

Result<std::span<const std::byte>> PackageFile::Checked(SectionKind kind, uint32_t target) const {
  const PackageSection* section = Find(kind, target);
  if (section == nullptr) {
    return Damaged(fmt::format("it has no section {} {}", SectionName(kind), target));
  }
  KHEYA_RETURN_IF_ERROR(CheckSection(*section));
  return Bytes(*section);
}

Status PackageFile::Verify() const {
  for (const PackageSection& section : sections_) KHEYA_RETURN_IF_ERROR(CheckSection(section));
  return OkStatus();
}

Status WritePackageFile(const std::string& path, std::span<const SectionContent> sections,
                        bool sync) {
  uint64_t end = kHeaderBytes + kHashBytes + sections.size() * kTableEntryBytes;
  ByteWriter table;
  std::vector<std::string_view> pieces(3);  // header, hash, table; then the sections
  for (const SectionContent& content : sections) {
    pieces.push_back(Padding(end));
    PackageSection section{content.kind, content.target, UpToPage(end), 0,
                           HashPieces(content.pieces)};
    for (std::string_view piece : content.pieces) {
      section.bytes += piece.size();
      pieces.push_back(piece);
    }
    PutSection(section, &table);
    end = section.offset + section.bytes;
  }
  pieces.push_back(Padding(end));
  ByteWriter header;
  for (const char c : kMagic) header.Put(c);
  header.Put(kFormatVersion);
  header.Put(static_cast<uint32_t>(kPackagePage));
  header.Put(UpToPage(end));
  header.Put<uint64_t>(sections.size());
  const std::string_view hashed[] = {header.bytes(), table.bytes()};
  ByteWriter hash;
  hash.PutHash(HashPieces(hashed));
  pieces[0] = header.bytes();
  pieces[1] = hash.bytes();
  pieces[2] = table.bytes();
  return WriteFileAtomic(path, pieces, sync);
}

}  // namespace kheya
