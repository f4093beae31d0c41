#include "codec/zip.h"

#include <algorithm>
#include <utility>

#include "base/checked_math.h"
#include "base/string_util.h"
#include "codec/byte_reader.h"
#include "codec/inflate.h"

namespace kheya {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr uint32_t kEntrySignature = 0x02014b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr size_t kLocalSize = 30, kEntrySize = 46, kEndSize = 22, kEnd64Size = 56,
                 kLocator64Size = 20;
constexpr size_t kLongestComment = 0xffff;
constexpr uint64_t kIn64 = 0xffffffff;  // "see the zip64 field"

bool Inside(Bytes bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

// A relative path that stays below the folder it is joined to.
bool IsSafeName(std::string_view name) {
  if (name.empty() || name.size() > 4096 || !IsValidUtf8(name)) return false;
  if (name.find('\\') != std::string_view::npos || name.find('\0') != std::string_view::npos) {
    return false;
  }
  if (name.ends_with('/')) name.remove_suffix(1);  // a folder
  for (std::string_view part : Split(name, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return name.size() < 2 || name[1] != ':';
}

std::string Quote(std::string_view name) { return EscapeControls(Abbreviate(name)); }

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t count = 0;
};

// The offset of the end record, whose comment must reach to the end of the archive.
Result<size_t> FindEnd(Bytes archive) {
  if (archive.size() < kEndSize) {
    return InvalidArgumentError("found {} bytes, expected a zip archive", archive.size());
  }
  const size_t last = archive.size() - kEndSize;
  const size_t first = last > kLongestComment ? last - kLongestComment : 0;
  for (size_t at = last + 1; at-- > first;) {
    if (LoadLittle<uint32_t>(archive, at) == kEndSignature &&
        LoadLittle<uint16_t>(archive, at + 20) == last - at) {
      return at;
    }
  }
  return InvalidArgumentError("found no end of a zip archive; it may be cut off");
}

Result<Directory> ReadEnd64(Bytes archive, size_t end) {
  if (end < kLocator64Size ||
      LoadLittle<uint32_t>(archive, end - kLocator64Size) != kLocator64Signature) {
    return InvalidArgumentError("found no zip64 locator where the zip archive's end asks for it");
  }
  const uint64_t at = LoadLittle<uint64_t>(archive, end - kLocator64Size + 8);
  if (!Inside(archive, at, kEnd64Size) || LoadLittle<uint32_t>(archive, at) != kEnd64Signature) {
    return InvalidArgumentError("found no zip64 end record at byte {}", at);
  }
  return Directory{.offset = LoadLittle<uint64_t>(archive, at + 48),
                   .size = LoadLittle<uint64_t>(archive, at + 40),
                   .count = LoadLittle<uint64_t>(archive, at + 32)};
}

Result<Directory> ReadEnd(Bytes archive) {
  KHEYA_ASSIGN_OR_RETURN(const size_t end, FindEnd(archive));
  if (LoadLittle<uint16_t>(archive, end + 4) != 0 &&
      LoadLittle<uint16_t>(archive, end + 4) != 0xffff) {
    return UnimplementedError("zip archives in several parts are not supported");
  }
  Directory directory{.offset = LoadLittle<uint32_t>(archive, end + 16),
                      .size = LoadLittle<uint32_t>(archive, end + 12),
                      .count = LoadLittle<uint16_t>(archive, end + 10)};
  if (directory.offset == kIn64 || directory.size == kIn64 || directory.count == 0xffff) {
    KHEYA_ASSIGN_OR_RETURN(directory, ReadEnd64(archive, end));
  }
  if (!Inside(archive, directory.offset, directory.size)) {
    return InvalidArgumentError(
        "zip directory of {} bytes at byte {} leaves the archive of {} bytes", directory.size,
        directory.offset, archive.size());
  }
  return directory;
}

// What one record of the directory says, before it is checked against the archive.
struct Record {
  ZipEntry entry;
  uint64_t compressed_size = 0;
  uint64_t local_offset = 0;
};

// Takes the 64-bit values that stand for those that are all ones, in their fixed order.
Status ReadZip64Extra(Bytes extra, Record* record) {
  uint64_t* const fields[] = {&record->entry.size, &record->compressed_size, &record->local_offset};
  if (std::none_of(std::begin(fields), std::end(fields),
                   [](const uint64_t* field) { return *field == kIn64; })) {
    return OkStatus();
  }
  size_t at = 0;
  while (extra.size() - at >= 4) {
    const uint16_t id = LoadLittle<uint16_t>(extra, at);
    const size_t size = LoadLittle<uint16_t>(extra, at + 2);
    at += 4;
    if (size > extra.size() - at) break;
    if (id == 1) {
      Bytes values = extra.subspan(at, size);
      for (uint64_t* field : fields) {
        if (*field != kIn64) continue;
        if (values.size() < 8) return InvalidArgumentError("zip64 field is cut off");
        *field = LoadLittle<uint64_t>(values, 0);
        values = values.subspan(8);
      }
      return OkStatus();
    }
    at += size;
  }
  return OkStatus();  // exactly 4 GiB - 1 without zip64
}

Status CheckSupported(uint16_t flags, uint16_t method) {
  if (flags & 1) return UnimplementedError("encrypted zip entries are not supported");
  if (method != 0 && method != 8) {
    return UnimplementedError("found compression method {}, expected 0 (stored) or 8 (deflated)",
                              method);
  }
  return OkStatus();
}

// Reads the record at `*at` of the directory and moves past it.
Result<Record> ReadRecord(Bytes directory, size_t* at) {
  if (!Inside(directory, *at, kEntrySize) ||
      LoadLittle<uint32_t>(directory, *at) != kEntrySignature) {
    return InvalidArgumentError("zip directory is damaged at its byte {}", *at);
  }
  const Bytes head = directory.subspan(*at, kEntrySize);
  const size_t name_size = LoadLittle<uint16_t>(head, 28);
  const size_t extra_size = LoadLittle<uint16_t>(head, 30);
  const size_t comment_size = LoadLittle<uint16_t>(head, 32);
  if (!Inside(directory, *at + kEntrySize, name_size + extra_size + comment_size)) {
    return InvalidArgumentError("zip directory is cut off at its byte {}", *at);
  }
  const std::string_view name = AsText(directory.subspan(*at + kEntrySize, name_size));
  if (!IsSafeName(name)) {
    return InvalidArgumentError("found zip entry '{}', expected a relative path", Quote(name));
  }
  Record record{.entry = {.name = std::string(name),
                          .deflated = LoadLittle<uint16_t>(head, 10) == 8,
                          .crc32 = LoadLittle<uint32_t>(head, 16),
                          .size = LoadLittle<uint32_t>(head, 24),
                          .compressed = {}},
                .compressed_size = LoadLittle<uint32_t>(head, 20),
                .local_offset = LoadLittle<uint32_t>(head, 42)};
  Status status = CheckSupported(LoadLittle<uint16_t>(head, 8), LoadLittle<uint16_t>(head, 10));
  if (status.ok()) {
    status = ReadZip64Extra(directory.subspan(*at + kEntrySize + name_size, extra_size), &record);
  }
  if (!status.ok()) return std::move(status).WithContext("zip entry '{}'", Quote(name));
  *at += kEntrySize + name_size + extra_size + comment_size;
  return record;
}

// Finds the entry's data behind its local header.
Status Locate(Bytes archive, const ZipLimits& limits, Record* record) {
  ZipEntry& entry = record->entry;
  if (entry.size > limits.max_entry_bytes) {
    return ResourceExhaustedError("found {} bytes, the limit is {}", entry.size,
                                  limits.max_entry_bytes);
  }
  const uint64_t at = record->local_offset;
  if (!Inside(archive, at, kLocalSize) || LoadLittle<uint32_t>(archive, at) != kLocalSignature) {
    return InvalidArgumentError("found no local header at byte {}", at);
  }
  const size_t name_size = LoadLittle<uint16_t>(archive, at + 26);
  const size_t extra_size = LoadLittle<uint16_t>(archive, at + 28);
  const uint64_t data = at + kLocalSize + name_size + extra_size;
  if (!Inside(archive, at + kLocalSize, name_size) ||
      AsText(archive.subspan(at + kLocalSize, name_size)) != entry.name) {
    return InvalidArgumentError("the local header has another name");
  }
  if (!Inside(archive, data, record->compressed_size)) {
    return InvalidArgumentError("{} bytes at byte {} leave the archive of {} bytes",
                                record->compressed_size, data, archive.size());
  }
  if (!entry.deflated && record->compressed_size != entry.size) {
    return InvalidArgumentError("found {} stored bytes, expected {}", record->compressed_size,
                                entry.size);
  }
  entry.compressed = archive.subspan(data, record->compressed_size);
  return OkStatus();
}

// Entries that share bytes make small archives unpack to huge ones.
Status CheckDisjoint(const std::vector<ZipEntry>& entries) {
  std::vector<const ZipEntry*> sorted;
  for (const ZipEntry& entry : entries) {
    if (!entry.compressed.empty()) sorted.push_back(&entry);
  }
  std::sort(sorted.begin(), sorted.end(), [](const ZipEntry* a, const ZipEntry* b) {
    return a->compressed.data() < b->compressed.data();
  });
  for (size_t i = 1; i < sorted.size(); ++i) {
    const Bytes before = sorted[i - 1]->compressed;
    if (sorted[i]->compressed.data() < before.data() + before.size()) {
      return InvalidArgumentError("zip entries '{}' and '{}' overlap", Quote(sorted[i - 1]->name),
                                  Quote(sorted[i]->name));
    }
  }
  return OkStatus();
}

}  // namespace

bool IsZip(Bytes bytes) {
  if (bytes.size() < 4) return false;
  const uint32_t signature = LoadLittle<uint32_t>(bytes, 0);
  return signature == kLocalSignature || signature == kEndSignature;
}

Result<ZipReader> ZipReader::Open(Bytes archive, const ZipLimits& limits) {
  KHEYA_ASSIGN_OR_RETURN(const Directory directory, ReadEnd(archive));
  if (directory.count > limits.max_entries) {
    return ResourceExhaustedError("found {} zip entries, the limit is {}", directory.count,
                                  limits.max_entries);
  }
  ZipReader reader;
  const Bytes records = archive.subspan(directory.offset, directory.size);
  size_t at = 0;
  for (uint64_t i = 0; i < directory.count; ++i) {
    KHEYA_ASSIGN_OR_RETURN(Record record, ReadRecord(records, &at));
    Status status = Locate(archive, limits, &record);
    if (!status.ok()) {
      return std::move(status).WithContext("zip entry '{}'", Quote(record.entry.name));
    }
    if (!reader.by_name_.emplace(record.entry.name, reader.entries_.size()).second) {
      return InvalidArgumentError("found zip entry '{}' twice", Quote(record.entry.name));
    }
    reader.entries_.push_back(std::move(record.entry));
  }
  KHEYA_RETURN_IF_ERROR(CheckDisjoint(reader.entries_));
  return reader;
}

const ZipEntry* ZipReader::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &entries_[it->second];
}

std::optional<Bytes> ZipReader::Stored(const ZipEntry& entry) {
  if (entry.deflated) return std::nullopt;
  return entry.compressed;
}

Result<Buffer> ZipReader::Read(const ZipEntry& entry,
                               const std::shared_ptr<MemoryBudget>& budget) const {
  // Deflate makes at most 1032 bytes of one: a larger claim is refused before it is allocated.
  if (entry.deflated && entry.size / 1033 > entry.compressed.size()) {
    return InvalidArgumentError("zip entry '{}': {} bytes cannot hold {}", Quote(entry.name),
                                entry.compressed.size(), entry.size);
  }
  KHEYA_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(entry.size, budget));
  if (entry.deflated) {
    Status status = InflateExactly(entry.compressed, DeflateForm::kRaw, buffer.bytes());
    if (!status.ok()) return std::move(status).WithContext("zip entry '{}'", Quote(entry.name));
  } else {
    std::copy(entry.compressed.begin(), entry.compressed.end(), buffer.data());
  }
  const uint32_t crc = Crc32(buffer.bytes());
  if (crc != entry.crc32) {
    return InvalidArgumentError("zip entry '{}': found crc-32 {:08x}, expected {:08x}",
                                Quote(entry.name), crc, entry.crc32);
  }
  return buffer;
}

void ZipWriter::Add(std::string_view name, Bytes content) {
  const uint32_t offset = static_cast<uint32_t>(archive_.size());
  std::string common;  // what both headers share: version to extra length
  AppendLittle<uint16_t>(&common, 20);
  AppendLittle<uint16_t>(&common, 0x800);  // names are UTF-8
  AppendLittle<uint16_t>(&common, 0);      // stored
  AppendLittle<uint16_t>(&common, 0);
  AppendLittle<uint16_t>(&common, 0x21);  // 1980-01-01, so that equal content gives equal bytes
  AppendLittle<uint32_t>(&common, Crc32(content));
  AppendLittle<uint32_t>(&common, static_cast<uint32_t>(content.size()));
  AppendLittle<uint32_t>(&common, static_cast<uint32_t>(content.size()));
  AppendLittle<uint16_t>(&common, static_cast<uint16_t>(name.size()));
  AppendLittle<uint16_t>(&common, 0);

  AppendLittle(&archive_, kLocalSignature);
  archive_.append(common).append(name).append(AsText(content));

  AppendLittle(&directory_, kEntrySignature);
  AppendLittle<uint16_t>(&directory_, 20);
  directory_.append(common);
  directory_.append(10, '\0');  // comment, disk, attributes
  AppendLittle(&directory_, offset);
  directory_.append(name);
  ++count_;
}

std::string ZipWriter::Finish() {
  std::string end;
  AppendLittle(&end, kEndSignature);
  end.append(4, '\0');
  AppendLittle(&end, count_);
  AppendLittle(&end, count_);
  AppendLittle(&end, static_cast<uint32_t>(directory_.size()));
  AppendLittle(&end, static_cast<uint32_t>(archive_.size()));
  AppendLittle<uint16_t>(&end, 0);
  std::string archive = std::move(archive_) + directory_ + end;
  *this = ZipWriter();
  return archive;
}

}  // namespace kheya
