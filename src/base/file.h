// Files: read-only mappings, bounded reads, atomic writes, paths that must stay in a folder.
#ifndef KHEYA_BASE_FILE_H_
#define KHEYA_BASE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace kheya {

// A whole file mapped read-only and private. Copies share the mapping, which lives as long as any
// of them, so a span into it is kept alive by keeping a copy (or `owner()`) beside it.
// A file that somebody truncates while it is mapped raises SIGBUS when read: files in folders that
// others write to must be opened with `copy`, which reads them into memory instead.
// Thread safety: const after Open.
class MappedFile {
 public:
  struct Options {
    uint64_t max_bytes = uint64_t{64} << 30;
    bool copy = false;
  };

  // NotFound, PermissionDenied, InvalidArgument (a folder, a device) or ResourceExhausted (larger
  // than max_bytes), each naming the path.
  static Result<MappedFile> Open(const std::string& path, const Options& options);
  static Result<MappedFile> Open(const std::string& path) { return Open(path, Options()); }

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }
  std::shared_ptr<const void> owner() const { return owner_; }
  // Tells the system that the pages of this part are not needed soon; they are read again from
  // the file on the next access.
  void ReleasePages(std::span<const std::byte> part) const;

 private:
  std::string path_;
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
  bool mapped_ = false;
};

// The whole file, at most `max_bytes`.
Result<std::string> ReadFile(const std::string& path, uint64_t max_bytes = uint64_t{1} << 30);

// Where a file that is written to `path` goes: links are followed, the last of them also to what is
// not there yet. InvalidArgument for a folder, a device, a pipe or a socket.
Result<std::string> ResolveOutput(const std::string& path);

// Writes a temporary file beside ResolveOutput(path), syncs it and renames it: readers see the old
// content or the new, never a part. The temporary file is removed on failure.
Status WriteFileAtomic(const std::string& path, std::string_view content);
// The same for content in pieces, one after the other. Without `sync`, after a crash of the system
// the file may be there with other content: for what is checked when it is read.
Status WriteFileAtomic(const std::string& path, std::span<const std::string_view> pieces,
                       bool sync = true);

// Joins `relative` to `folder`. InvalidArgument when the result (links followed) leaves the folder
// or when `relative` is absolute or empty.
Result<std::string> ResolveInside(const std::string& folder, const std::string& relative);

bool FileExists(const std::string& path);
bool IsDirectory(const std::string& path);

}  // namespace kheya

#endif  // KHEYA_BASE_FILE_H_
