#include "base/cgroup.h"

#include <optional>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/string_util.h"

namespace kheya {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{1} << 20;

// One mounted hierarchy and the group of this process in it.
struct Hierarchy {
  bool v2 = false;
  std::string mount_point;
  std::string root;  // the group that is mounted there
  std::string path;  // the group of this process
};

bool ListHas(std::string_view list, std::string_view name) {
  for (std::string_view item : Split(list, ',')) {
    if (item == name) return true;
  }
  return false;
}

// The group of the hierarchy with `controller` ("" for version 2), from lines
// "id:controllers:path".
std::optional<std::string> FindPath(std::string_view cgroup_file, std::string_view controller) {
  for (std::string_view line : Split(cgroup_file, '\n')) {
    const size_t first = line.find(':');
    const size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool found = controller.empty() ? controllers.empty() : ListHas(controllers, controller);
    if (found) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

// See proc_pid_mountinfo(5): "id parent dev root point options [fields] - type source options".
std::optional<Hierarchy> ParseMount(std::string_view line, std::string_view controller) {
  const std::vector<std::string_view> words = SplitWords(line);
  size_t dash = 6;
  while (dash < words.size() && words[dash] != "-") ++dash;
  if (dash + 3 >= words.size()) return std::nullopt;
  Hierarchy mount;
  mount.v2 = words[dash + 1] == "cgroup2";
  if (!mount.v2 && (words[dash + 1] != "cgroup" || !ListHas(words[dash + 3], controller))) {
    return std::nullopt;
  }
  mount.root = words[3];
  mount.mount_point = words[4];
  return mount;
}

std::vector<Hierarchy> FindHierarchies(const std::string& proc_self, std::string_view controller) {
  const Result<std::string> groups = ReadFile(proc_self + "/cgroup", kMaxFileBytes);
  const Result<std::string> mounts = ReadFile(proc_self + "/mountinfo", kMaxFileBytes);
  std::vector<Hierarchy> found;
  if (!groups.ok() || !mounts.ok()) return found;
  for (std::string_view line : Split(*mounts, '\n')) {
    std::optional<Hierarchy> mount = ParseMount(line, controller);
    if (!mount) continue;
    std::optional<std::string> path = FindPath(*groups, mount->v2 ? "" : controller);
    if (!path) continue;
    mount->path = *path;
    found.push_back(*mount);
  }
  return found;
}

// The folders from the process's group up to the mount point. A container may see a group path that
// lies outside what is mounted; the mount point itself is then its group.
std::vector<std::string> Folders(const Hierarchy& hierarchy) {
  std::string relative = hierarchy.path;
  if (hierarchy.root != "/") {
    relative = StartsWith(relative, hierarchy.root) ? relative.substr(hierarchy.root.size()) : "";
  }
  std::vector<std::string> folders;
  while (!relative.empty() && relative != "/") {
    folders.push_back(hierarchy.mount_point + relative);
    relative.resize(relative.rfind('/') == std::string::npos ? 0 : relative.rfind('/'));
  }
  folders.push_back(hierarchy.mount_point);
  return folders;
}

std::optional<int64_t> ReadNumber(const std::string& path) {
  const Result<std::string> text = ReadFile(path, kMaxFileBytes);
  if (!text.ok()) return std::nullopt;
  const Result<int64_t> number = ParseInt64(Trim(*text));
  return number.ok() ? std::optional<int64_t>(*number) : std::nullopt;
}

// The two numbers of "quota period"; nothing for "max period".
double CpusV2(const std::string& folder) {
  const Result<std::string> text = ReadFile(folder + "/cpu.max", kMaxFileBytes);
  if (!text.ok()) return 0;
  const std::vector<std::string_view> words = SplitWords(*text);
  if (words.size() != 2) return 0;
  const Result<int64_t> quota = ParseInt64(words[0]);
  const Result<int64_t> period = ParseInt64(words[1]);
  if (!quota.ok() || !period.ok() || *quota <= 0 || *period <= 0) return 0;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

double CpusV1(const std::string& folder) {
  const int64_t quota = ReadNumber(folder + "/cpu.cfs_quota_us").value_or(0);
  const int64_t period = ReadNumber(folder + "/cpu.cfs_period_us").value_or(0);
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<double>(quota) / static_cast<double>(period);
}

template <typename T>
void Tighten(T found, T* limit) {
  if (found > 0 && (*limit == 0 || found < *limit)) *limit = found;
}

}  // namespace

CgroupLimits ReadCgroupLimits(const std::string& proc_self) {
  CgroupLimits limits;
  for (const Hierarchy& hierarchy : FindHierarchies(proc_self, "cpu")) {
    for (const std::string& folder : Folders(hierarchy)) {
      Tighten(hierarchy.v2 ? CpusV2(folder) : CpusV1(folder), &limits.cpus);
    }
  }
  for (const Hierarchy& hierarchy : FindHierarchies(proc_self, "memory")) {
    const char* name = hierarchy.v2 ? "/memory.max" : "/memory.limit_in_bytes";
    for (const std::string& folder : Folders(hierarchy)) {
      const int64_t bytes = ReadNumber(folder + name).value_or(0);
      Tighten(static_cast<uint64_t>(bytes > 0 ? bytes : 0), &limits.memory_bytes);
    }
  }
  return limits;
}

}  // namespace kheya
