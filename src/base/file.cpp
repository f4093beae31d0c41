#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/allocator.h"

namespace kheya {
namespace {

namespace fs = std::filesystem;

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() { Close(); }
  int get() const { return fd_; }
  int Close() { return fd_ < 0 ? 0 : close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return StatusCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return StatusCode::kPermissionDenied;
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case EINVAL:
      return StatusCode::kInvalidArgument;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return StatusCode::kResourceExhausted;
    default:
      return StatusCode::kUnknown;
  }
}

Status ErrnoStatus(int error, const char* action, const std::string& path) {
  return Status(CodeOf(error), fmt::format("file '{}': cannot {}: {}", path, action,
                                           std::generic_category().message(error)));
}

// What a file that is not a regular one is.
const char* KindOf(mode_t mode) {
  return S_ISDIR(mode) ? "folder" : S_ISFIFO(mode) ? "pipe" : S_ISSOCK(mode) ? "socket" : "device";
}

Status NotRegular(const std::string& path, mode_t mode) {
  return InvalidArgumentError("file '{}': found a {}, expected a regular file", path, KindOf(mode));
}

struct OpenedFile {
  FileDescriptor fd;
  uint64_t size = 0;
};

// Opens a regular file of at most `max_bytes`. Never waits: a pipe without a writer opens at once
// and is then refused.
Result<OpenedFile> OpenRegular(const std::string& path, uint64_t max_bytes) {
  if (path.find('\0') != path.npos) return InvalidArgumentError("file name with a zero byte");
  FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (fd.get() < 0) return ErrnoStatus(errno, "open", path);
  struct stat info;
  if (fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, "look at", path);
  if (!S_ISREG(info.st_mode)) return NotRegular(path, info.st_mode);
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size > max_bytes) {
    return ResourceExhaustedError("file '{}': found {} bytes, expected at most {}", path, size,
                                  max_bytes);
  }
  return OpenedFile{std::move(fd), size};
}

// Reads up to `size` bytes and returns how many there were.
Result<size_t> ReadUpTo(int fd, void* data, size_t size, const std::string& path) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = read(fd, static_cast<char*>(data) + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, "read", path);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Status WriteAll(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t put = write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return ErrnoStatus(errno, "write", path);
    content.remove_prefix(static_cast<size_t>(put));
  }
  return OkStatus();
}

Status WriteAndSync(FileDescriptor& fd, std::span<const std::string_view> pieces,
                    const std::string& temporary, const std::string& path, bool sync) {
  struct stat old;
  if (stat(path.c_str(), &old) == 0 && fchmod(fd.get(), old.st_mode & 07777) != 0) {
    return ErrnoStatus(errno, "set the mode of", temporary);
  }
  for (std::string_view piece : pieces) {
    KHEYA_RETURN_IF_ERROR(WriteAll(fd.get(), piece, temporary));
  }
  if (sync && fsync(fd.get()) != 0) return ErrnoStatus(errno, "sync", temporary);
  if (fd.Close() != 0) return ErrnoStatus(errno, "close", temporary);
  if (rename(temporary.c_str(), path.c_str()) != 0) return ErrnoStatus(errno, "rename to", path);
  return OkStatus();
}

std::string TemporaryName(const std::string& path) {
  static std::atomic<uint64_t> counter{0};
  return fmt::format("{}.{}-{}-{}.tmp", path, getpid(), time(nullptr), counter.fetch_add(1));
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The first part of `path` that is a link, empty when there is none.
fs::path FindLink(const fs::path& path) {
  fs::path prefix;
  for (const fs::path& part : path) {
    prefix /= part;
    std::error_code ignored;
    if (fs::is_symlink(fs::symlink_status(prefix, ignored))) return prefix;
  }
  return {};
}

bool IsInside(const fs::path& root, const fs::path& path) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path, const Options& options) {
  KHEYA_ASSIGN_OR_RETURN(OpenedFile file, OpenRegular(path, options.max_bytes));
  MappedFile result;
  result.path_ = path;
  if (file.size == 0) return result;
  if (options.copy) {
    KHEYA_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(file.size));
    KHEYA_ASSIGN_OR_RETURN(size_t got, ReadUpTo(file.fd.get(), buffer.data(), file.size, path));
    if (got != file.size) {
      return DataLossError("file '{}': found {} bytes, expected {}: it was cut while being read",
                           path, got, file.size);
    }
    auto owner = std::make_shared<Buffer>(std::move(buffer));
    result.bytes_ = std::as_const(*owner).bytes();
    result.owner_ = std::move(owner);
    return result;
  }
  void* data = mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, file.fd.get(), 0);
  if (data == MAP_FAILED) return ErrnoStatus(errno, "map", path);
  result.owner_ = std::shared_ptr<const void>(
      data, [size = file.size](const void* mapped) { munmap(const_cast<void*>(mapped), size); });
  result.bytes_ = {static_cast<const std::byte*>(data), file.size};
  result.mapped_ = true;
  return result;
}

void MappedFile::ReleasePages(std::span<const std::byte> part) const {
  if (!mapped_ || part.empty()) return;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(part.data());
  // Pages that other parts share stay.
  const uintptr_t begin = (address + page - 1) / page * page;
  const uintptr_t end = (address + part.size()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

Result<std::string> ReadFile(const std::string& path, uint64_t max_bytes) {
  KHEYA_ASSIGN_OR_RETURN(OpenedFile file, OpenRegular(path, max_bytes));
  std::string content;
  // Files under /proc say size 0, and a log may grow, so the end is where nothing more comes.
  size_t chunk = std::max<size_t>(file.size + 1, 4096);
  while (true) {
    const size_t before = content.size();
    content.resize(before + chunk);
    KHEYA_ASSIGN_OR_RETURN(size_t got,
                           ReadUpTo(file.fd.get(), content.data() + before, chunk, path));
    content.resize(before + got);
    if (content.size() > max_bytes) {
      return ResourceExhaustedError("file '{}': found more than the {} bytes expected at most",
                                    path, max_bytes);
    }
    if (got < chunk) return content;
    chunk = 65536;
  }
}

Status WriteFileAtomic(const std::string& path, std::string_view content) {
  return WriteFileAtomic(path, std::span(&content, 1));
}

Result<std::string> ResolveOutput(const std::string& path) {
  if (path.find('\0') != path.npos) return InvalidArgumentError("file name with a zero byte");
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return NotRegular(path, info.st_mode);
  }
  constexpr int kMostLinks = 40;  // as many as Linux follows
  fs::path at = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    if (lstat(at.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return at.string();
    std::error_code error;
    const fs::path target = fs::read_symlink(at, error);
    if (error) return ErrnoStatus(error.value(), "follow", path);
    at = at.parent_path() / target;
  }
  return ErrnoStatus(ELOOP, "follow", path);
}

Status WriteFileAtomic(const std::string& path, std::span<const std::string_view> pieces,
                       bool sync) {
  KHEYA_ASSIGN_OR_RETURN(const std::string target, ResolveOutput(path));
  const std::string temporary = TemporaryName(target);
  FileDescriptor fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd.get() < 0) return ErrnoStatus(errno, "create", temporary);
  if (Status status = WriteAndSync(fd, pieces, temporary, target, sync); !status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  if (!sync) return OkStatus();
  FileDescriptor folder(open(FolderOf(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) fsync(folder.get());
  return OkStatus();
}

Result<std::string> ResolveInside(const std::string& folder, const std::string& relative) {
  if (relative.empty() || relative.find('\0') != relative.npos || relative[0] == '/') {
    return InvalidArgumentError("found path '{}', expected a relative path", relative);
  }
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return ErrnoStatus(error.value(), "open folder", folder);
  const fs::path resolved = fs::weakly_canonical(root / relative, error);
  if (error) return ErrnoStatus(error.value(), "resolve", relative);
  // Links that lead nowhere are still there after the resolution and could be filled later.
  if (!IsInside(root, resolved) || !FindLink(resolved).empty()) {
    return InvalidArgumentError("path '{}' leaves the folder '{}'", relative, folder);
  }
  return resolved.string();
}

bool FileExists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

bool IsDirectory(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace kheya
