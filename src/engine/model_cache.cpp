#include "engine/model_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "base/byte_stream.h"
#include "base/file.h"
#include "runtime/plan_io.h"

namespace kheya {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostHintBytes = uint64_t{4} << 20;
// A file that changed less long ago may change again without another time.
constexpr int64_t kSettledNanoseconds = 2'000'000'000;
constexpr std::chrono::hours kAbandoned{1};

// Equal when a file was not changed in between.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t bytes = 0;
  int64_t modified = 0;  // nanoseconds
  int64_t changed = 0;
  bool operator==(const FileIdentity&) const = default;
};

int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::optional<FileIdentity> IdentityOf(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return FileIdentity{info.st_dev, info.st_ino, info.st_size, Nanoseconds(info.st_mtim),
                      Nanoseconds(info.st_ctim)};
}

std::string HintPath(const std::string& cache_dir, const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::canonical(path, error);
  const std::string name = error ? path : whole.string();
  return fmt::format("{}/contents/{}", cache_dir, HashString(name).ToHex());
}

struct Hint {
  std::vector<std::pair<std::string, FileIdentity>> files;
  Hash128 content;
};

std::string WriteHint(const Hint& hint) {
  ByteWriter writer;
  writer.Put<uint64_t>(hint.files.size());
  for (const auto& [path, identity] : hint.files) {
    writer.PutText(path);
    writer.Put(identity.device);
    writer.Put(identity.inode);
    writer.Put(identity.bytes);
    writer.Put(identity.modified);
    writer.Put(identity.changed);
  }
  writer.PutHash(hint.content);
  ByteWriter whole;
  whole.PutHash(HashString(writer.bytes()));
  return whole.bytes() + writer.bytes();
}

std::optional<Hint> ReadHint(const std::string& text) {
  ByteReader head(std::as_bytes(std::span(text)));
  const Hash128 hash = head.GetHash();
  if (!head.ok() || HashString(std::string_view(text).substr(16)) != hash) return std::nullopt;
  ByteReader reader(std::as_bytes(std::span(text)).subspan(16));
  Hint hint;
  hint.files.resize(reader.GetCount(48));
  for (auto& [path, identity] : hint.files) {
    path = reader.GetText();
    identity.device = reader.Get<uint64_t>();
    identity.inode = reader.Get<uint64_t>();
    identity.bytes = reader.Get<int64_t>();
    identity.modified = reader.Get<int64_t>();
    identity.changed = reader.Get<int64_t>();
  }
  hint.content = reader.GetHash();
  if (!reader.Finish().ok()) return std::nullopt;
  return hint;
}

Status MakeFolder(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  std::error_code error;
  if (fs::create_directories(folder, error)) {
    fs::permissions(folder, fs::perms::owner_all, error);
  }
  if (error) {
    return UnavailableError("folder '{}': cannot be made: {}", folder.string(), error.message());
  }
  return OkStatus();
}

bool IsSettled(const Hint& hint) {
  const int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  return std::all_of(hint.files.begin(), hint.files.end(), [&](const auto& file) {
    return std::max(file.second.modified, file.second.changed) < now - kSettledNanoseconds;
  });
}

struct KeptFile {
  fs::path path;
  uint64_t bytes = 0;
  fs::file_time_type used;
};

// Removes the least recently used files of a folder over `most_bytes`, and what writers that ended
// early left.
void RemoveOldest(const fs::path& folder, uint64_t most_bytes) {
  std::vector<KeptFile> files;
  uint64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    KeptFile file{at->path(), at->file_size(ignored), at->last_write_time(ignored)};
    if (ignored) continue;
    if (file.path.extension() == ".tmp") {
      if (file.used < fs::file_time_type::clock::now() - kAbandoned) fs::remove(file.path, ignored);
      continue;
    }
    total += file.bytes;
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const KeptFile& a, const KeptFile& b) { return a.used < b.used; });
  for (const KeptFile& file : files) {
    if (total <= most_bytes) break;
    std::error_code ignored;
    if (fs::remove(file.path, ignored)) total -= file.bytes;
  }
}

}  // namespace

std::optional<Hash128> RememberedContent(const std::string& cache_dir, const std::string& path) {
  const Result<std::string> text = ReadFile(HintPath(cache_dir, path), kMostHintBytes);
  if (!text.ok()) return std::nullopt;
  const std::optional<Hint> hint = ReadHint(*text);
  if (!hint) return std::nullopt;
  for (const auto& [file, identity] : hint->files) {
    if (IdentityOf(file) != identity) return std::nullopt;
  }
  return hint->content;
}

Result<Hash128> HashContent(const std::string& cache_dir, const std::string& path,
                            const std::vector<std::string>& external_files) {
  std::vector<std::string> paths = {path};
  paths.insert(paths.end(), external_files.begin(), external_files.end());
  Hint hint;
  std::string hashes;
  for (const std::string& each : paths) {
    const std::optional<FileIdentity> identity = IdentityOf(each);
    KHEYA_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(each));
    hashes += HashBytes(file.bytes()).ToHex();
    if (!identity || IdentityOf(each) != identity) {
      return UnavailableError("file '{}': it changes while it is read", each);
    }
    hint.files.emplace_back(each, *identity);
  }
  hint.content = HashString(hashes);
  const std::string to = HintPath(cache_dir, path);
  if (IsSettled(hint) && MakeFolder(to).ok()) {
    const std::string text = WriteHint(hint);
    const std::string_view piece = text;
    (void)WriteFileAtomic(to, std::span(&piece, 1), /*sync=*/false);
  }
  return hint.content;
}

std::string CompiledModelPath(const Hash128& content, const LoadOptions& load,
                              const CompileOptions& compile) {
  std::string key =
      fmt::format("{}\n{}\n{}\n", content.ToHex(), PlanMachine(), PlanOptionsKey(compile));
  for (const auto& [name, shape] : compile.input_shapes) {
    key += fmt::format("{}={}\n", name, shape.ToString());
  }
  for (const std::string& name : load.overridden) key += fmt::format("{}\n", name);
  if (compile.budget != nullptr) key += fmt::format("{}\n", compile.budget->limit_bytes());
  return fmt::format("{}/models/{}.kheya", compile.cache_dir, HashString(key).ToHex());
}

std::shared_ptr<const Package> FindCompiledModel(const std::string& file) {
  struct stat info;
  if (stat(file.c_str(), &info) != 0 || info.st_uid != geteuid()) return nullptr;
  const Result<MappedFile> mapped = MappedFile::Open(file);
  if (!mapped.ok()) return nullptr;
  Result<std::shared_ptr<const Package>> package = Package::Open(*mapped);
  if (!package.ok() || (*package)->plans() == nullptr) return nullptr;
  std::error_code ignored;
  fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
  return std::move(package).value();
}

Status KeepModelFile(const CompileOptions& options, const std::string& file,
                     FunctionRef<Status()> write) {
  KHEYA_RETURN_IF_ERROR(MakeFolder(file));
  KHEYA_RETURN_IF_ERROR(write());
  RemoveOldest(fs::path(file).parent_path(), options.cache_bytes);
  return OkStatus();
}

}  // namespace kheya
